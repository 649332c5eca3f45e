package harness

import (
	"path"
	"strings"
)

// runners are programs that decide by files of the tree what they run and how they end.
var runners = set("npm", "npx", "yarn", "pnpm", "pnpx", "bun", "bunx", "deno", "jest", "vitest", "mocha", "ava", "tap", "karma", "nyc", "c8", "playwright", "cypress",
	"tsc", "eslint", "biome", "prettier", "go", "gotestsum", "golangci-lint", "pytest", "py.test", "tox", "nox", "nose2", "poetry", "pipenv", "uv", "hatch", "pdm", "ruff", "mypy",
	"cargo", "mvn", "mvnw", "gradle", "gradlew", "ant", "sbt", "make", "gmake", "just", "task", "cmake", "ctest", "meson", "ninja", "bazel", "rake", "rspec", "bundle", "minitest",
	"phpunit", "composer", "pest", "dotnet", "mix", "swift", "zig", "dart", "flutter", "bats", "prove", "lerna", "nx", "turbo")

// interpreters run a file of the tree that their first operand names.
var interpreters = set("sh", "bash", "dash", "ash", "zsh", "node", "nodejs", "python", "python3", "ruby", "perl", "php", "tsx", "ts-node", ".", "source")

// wrappers run the program that their operands name.
var wrappers = set("env", "time", "exec", "nice", "nohup", "command", "timeout", "xvfb-run", "cross-env", "sudo", "stdbuf", "setsid", "then", "do", "else", "!", "if", "while", "{")

// maxWords bounds the words of a command that are looked at.
const maxWords = 2000

// Call is one program that a command starts.
type call struct {
	program string   // last part of its path
	path    string   // as it was written
	args    []string // the words after it
}

// calls finds the programs that the text of a shell command starts, as well as that can be seen without running it: quotes are
// taken off, and what variables hold is not known.
func calls(text string) []call {
	text = strings.NewReplacer(`\`+"\n", " ", `"`, " ", `'`, " ", "`", "\n", "$(", "\n", ")", "\n", "(", "\n", ";", "\n", "&", "\n", "|", "\n").Replace(text)
	var list []call
	left := maxWords
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		words = words[:min(len(words), left)]
		left -= len(words)
		for len(words) > 0 {
			word := words[0]
			name := path.Base(word)
			words = words[1:]
			if wrappers[name] || strings.Contains(word, "=") || strings.HasPrefix(word, "-") || isNumber(word) {
				continue
			}
			if interpreters[name] && len(words) > 1 && strings.HasPrefix(words[0], "-") && strings.HasSuffix(words[0], "c") && name != "node" {
				words = words[1:] // sh -c "npm test"
				continue
			}
			list = append(list, call{program: name, path: word, args: words})
			break
		}
	}
	return list
}

// isNumber recognises the operand of timeout.
func isNumber(word string) bool {
	return word != "" && word[0] >= '0' && word[0] <= '9' && strings.Trim(word, "0123456789.smhd") == ""
}

// script is the file of the tree that a call runs, "" for none that can be seen.
func (c call) script() string {
	if strings.Contains(c.path, "/") && !strings.HasPrefix(c.path, "/") {
		return path.Clean(c.path)
	}
	if !interpreters[c.program] {
		return ""
	}
	for _, a := range c.args {
		if a == "-m" || a == "-e" || a == "-p" || a == "--eval" {
			return ""
		}
		if !strings.HasPrefix(a, "-") {
			return path.Clean(a)
		}
	}
	return ""
}

// Judges says whether the text of a command starts a test runner, a build tool or a test script, so that files of the tree other
// than the judged ones decide how it ends. A command such as grep or test looks at the tree itself.
func Judges(text string) bool {
	for _, c := range calls(text) {
		if runners[c.program] || c.program == "node" && hasPrefix(c.args, "--test") {
			return true
		}
		if c.program == "python" || c.program == "python3" {
			for i, a := range c.args {
				if a == "-m" && i+1 < len(c.args) && (runners[c.args[i+1]] || c.args[i+1] == "unittest" || c.args[i+1] == "doctest") {
					return true
				}
			}
		}
		if s := c.script(); s != "" && judgesByName(s) {
			return true
		}
	}
	return false
}

func hasPrefix(list []string, prefix string) bool {
	for _, s := range list {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// judgeWords are words of file names that say that a script judges a tree.
var judgeWords = set("test", "tests", "check", "checks", "spec", "specs", "verify", "lint", "ci", "e2e", "suite", "validate", "smoke", "accept", "acceptance")

// judgesByName says by the words of its name that a script judges others.
func judgesByName(name string) bool {
	if RoleOf(name) == Test {
		return true
	}
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		for _, w := range strings.FieldsFunc(part, func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
			if judgeWords[w] {
				return true
			}
		}
	}
	return false
}

// wordsOf are the words of commands.
func wordsOf(commands []string) map[string]bool {
	words := map[string]bool{}
	for _, text := range commands {
		for _, c := range calls(text) {
			for _, w := range append([]string{c.program}, c.args...) {
				words[w] = true
			}
		}
	}
	return words
}
