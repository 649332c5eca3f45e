package reading

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// runners are programs that test or build. A piece in backticks that begins with one is a command.
var runners = strings.Fields(`ant bash bats bazel black buck2 bun bundle bunx cargo clang-format clang-tidy cmake composer coverage ctest deno detekt docker dotnet
	eslint flake8 gleam go gofmt golangci-lint gradle gradlew hatch isort jest just ktlint lein make meson mix mocha mvn mvnw mypy ninja node nox npm npx nx
	pdm php phpstan phpunit pip playwright pnpm poetry pre-commit prettier pylint pyright pytest python python3 rake rspec rubocop ruff ruby rustc sbt sh
	shellcheck staticcheck stylelint swift task tox tsc turbo uv vitest xcodebuild yarn zig`)

// assignment is a variable set before a command.
var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=\S*$`)

// commandLike says that a piece in backticks is evidently a command: it begins with a program that tests or builds, or with the path of a script.
func commandLike(s string) bool {
	words := strings.Fields(s)
	for len(words) > 0 && assignment.MatchString(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	first := words[0]
	if slices.Contains(runners, first) {
		return len(words) > 1 || slices.Contains(alone, first)
	}
	return strings.HasPrefix(first, "./") && !strings.HasSuffix(first, "/...") || path.Ext(first) == ".sh"
}

// alone are programs that test or build without an argument.
var alone = strings.Fields(`ctest gradle gradlew jest just make mocha mvn mypy ninja nox phpstan phpunit pytest rake rspec rubocop tox tsc vitest`)

// commands makes checks of the commands that a form found. The group commands holds pieces in backticks, plain holds the words of a
// runner, and told says that the sentence itself calls the piece a command.
func (t *text) commands(groups map[string]string, words string) []Check {
	var list []string
	for _, r := range groups["commands"] {
		a, ok := t.atoms[r]
		if !ok {
			continue
		}
		if a.kind != atomCode || groups["told"] == "" && groups["exit"] == "" && !commandLike(a.text) {
			return nil
		}
		list = append(list, a.text)
	}
	if plain := t.plain(groups["plain"]); plain != "" {
		list = append(list, plain)
	}
	exit := 0
	if words := groups["exit"]; words != "" {
		n, ok := number(words)
		if code, err := strconv.Atoi(words); err == nil {
			n, ok = int64(code), true
		}
		if !ok || n > 255 {
			return nil
		}
		exit = int(n)
	}
	var checks []Check
	for _, c := range list {
		checks = append(checks, Check{Command: c, ExpectExit: &exit, Words: words})
	}
	return checks
}
