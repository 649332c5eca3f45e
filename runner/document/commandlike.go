package document

import (
	"path"
	"slices"
	"strings"
)

// programs are those that run tests or builds: a criterion that begins with one was probably meant to be run.
var programs = []string{
	"ant", "bash", "bazel", "black", "bun", "bundle", "bunx", "cargo", "cmake", "composer", "ctest", "deno", "docker", "dotnet", "eslint",
	"flake8", "go", "golangci-lint", "gradle", "jest", "just", "make", "mix", "mocha", "mvn", "mypy", "ninja", "node", "nox", "npm", "npx",
	"nx", "php", "phpunit", "pip", "playwright", "pnpm", "poetry", "pre-commit", "prettier", "pyright", "pytest", "python", "python3", "rake",
	"rspec", "rubocop", "ruff", "ruby", "sbt", "sh", "shellcheck", "swift", "tox", "tsc", "uv", "vitest", "yarn", "zig",
}

// proseWords stand in sentences about programs, and in no command that this program would be asked to run.
var proseWords = []string{
	"a", "all", "an", "and", "are", "be", "does", "every", "green", "has", "is", "it", "its", "must", "no", "not", "of", "output", "pass",
	"passes", "should", "shows", "still", "succeed", "succeeds", "sure", "that", "the", "to", "with", "works",
}

// maxCommandWords bounds a sentence that may be a command: longer ones are prose.
const maxCommandWords = 12

// LooksLikeCommand says that a criterion is a sentence that looks like a command.
func (c Criterion) LooksLikeCommand() bool {
	words := strings.Fields(c.Text)
	if len(words) == 0 || len(words) > maxCommandWords || strings.HasSuffix(c.Text, ".") && !strings.HasSuffix(c.Text, "/...") {
		return false
	}
	first := words[0]
	if !slices.Contains(programs, first) && !strings.HasPrefix(first, "./") && path.Ext(first) != ".sh" {
		return false
	}
	return !slices.ContainsFunc(words[1:], func(w string) bool {
		return slices.Contains(proseWords, strings.ToLower(strings.Trim(w, ",;:")))
	})
}
