// Package harness finds out what a green command is worth. It knows which files of a tree decide what a command runs and how it
// ends, reads what test runners report of single tests, and compares the reports of three trees: the base, the change, and the
// change with the base's own tests and configuration.
package harness

import (
	"path"
	"regexp"
	"strings"
)

// Role is what a file is to the commands that judge a change.
type Role int

// Roles of files.
const (
	Product Role = iota // what is judged
	Test                // a test, or what tests compare with: fixtures, snapshots
	Config              // decides which tests run, how, and when they count as passed
)

// testDirs are directories all of whose files belong to tests, by the rules and habits of the usual runners.
var testDirs = set("test", "tests", "__tests__", "spec", "specs", "testdata", "__snapshots__", "__fixtures__", "fixtures", "e2e", "cypress", "golden",
	"test-fixtures", "integration-tests", "androidtest")

// testNames are the file names by which runners find tests. Letter case counts only where a language's own rule needs it.
var testNames = regexp.MustCompile(`(?i:` + strings.Join([]string{
	`[._-](test|spec|e2e|cy)\.[cm]?[jt]sx?$`, `^test([._-].*)?\.[cm]?[jt]s$`, // node --test, jest, vitest, mocha, cypress
	`_test\.go$`, `^test_.*\.py$`, `_tests?\.py$`, `^tests?\.py$`, // go, pytest, unittest
	`_(spec|test)\.(rb|exs|dart|cc|cpp|c|rs|lua)$`, `\.bats$`, `\.t$`,
	`^(run[._-])?tests?\.(sh|bash|py|rb|pl)$`, `^tests?[._-].*\.(sh|bash)$`, `[._-]tests?\.(sh|bash)$`,
	`\.(snap|golden|approved\.[a-z]+)$`,
}, "|") + `)|(Test|Tests|IT|Spec)\.(java|kt|scala|groovy|cs|fs|php|swift)$`)

// configNames are files that runners, package managers and build tools obey wherever they lie.
var configNames = set(
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs",
	"pnpm-workspace.yaml", "lerna.json", "nx.json", "turbo.json", "deno.json", "deno.jsonc", "bunfig.toml", ".nvmrc", ".node-version", ".pnp.cjs",
	".mocharc", ".c8rc", ".nycrc", ".babelrc", ".swcrc", ".eslintignore", ".prettierignore", ".lintstagedrc", ".taprc", "biome.json", "biome.jsonc",
	"go.mod", "go.sum", "go.work", "go.work.sum",
	"pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "setup.py", "pyproject.toml", "noxfile.py", "conftest.py", ".coveragerc", "mypy.ini", ".flake8", "ruff.toml",
	".ruff.toml", ".pylintrc", "sitecustomize.py", "usercustomize.py", "pytest.py", "unittest.py", "manage.py", "pipfile", "pipfile.lock", "poetry.lock", "uv.lock",
	"cargo.toml", "cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml", "nextest.toml", "clippy.toml",
	"pom.xml", "mvnw", "gradlew", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "testng.xml",
	"gemfile", "gemfile.lock", "rakefile", ".rspec", "phpunit.xml", "phpunit.xml.dist", "composer.json", "composer.lock", "global.json", "nuget.config",
	"makefile", "gnumakefile", "justfile", ".justfile", "taskfile.yml", "taskfile.yaml", "cmakelists.txt", "ctesttestfile.cmake", "cmakepresets.json",
	"meson.build", "build.zig", "mix.exs", "rebar.config", "dune-project", "dune", "build.sbt", "workspace", "module.bazel", "build.bazel", ".bazelrc",
	".env", ".env.test", ".env.local", "jest.setup.js", "vitest.setup.ts", "setuptests.js", "setuptests.ts", ".pre-commit-config.yaml", "lefthook.yml",
)

var configPatterns = regexp.MustCompile(`(?i)^(` + strings.Join([]string{
	`(jest|vitest|vite|karma|playwright|cypress|ava|babel|eslint|prettier|stylelint|webpack|rollup|esbuild|tsup|metro|wdio|nightwatch|c8|nyc|mocha)[a-z.-]*\.(config|conf|workspace|setup|rc)?\.?([cm]?[jt]s|json5?|ya?ml)`,
	`\.(mocharc|nycrc|c8rc|eslintrc|babelrc|prettierrc|stylelintrc|jestrc|swcrc|taprc|lintstagedrc|commitlintrc)(\.[a-z0-9]+)?`,
	`[tj]sconfig([.-][a-z0-9.-]+)?\.json`, `\.golangci\.(ya?ml|toml|json)`, `requirements[a-z0-9._-]*\.(txt|in)`, `.*\.mk`, `.*\.pth`, `directory\.[a-z]+\.(props|targets)`,
	`.*\.(csproj|fsproj|vbproj|sln|runsettings|testplan)`,
}, "|") + `)$`)

// configDirs are directories whose files take precedence over the real programs and libraries, or run before them.
var configDirs = set("node_modules", "__mocks__", ".husky", ".yarn", ".cargo", ".mvn", ".bundle", "buildsrc", "pytest", "_pytest", ".venv", "site-packages")

// RoleOf says what a file is by its path in the tree. It looks at whole names and whole directories, never at parts of words.
func RoleOf(name string) Role {
	base := path.Base(name)
	low := strings.ToLower(base)
	dirs := strings.Split(strings.ToLower(path.Dir(name)), "/")
	for i, d := range dirs {
		if configDirs[d] || i == 0 && d == "vendor" {
			return Config
		}
	}
	if configNames[low] || configPatterns.MatchString(base) {
		return Config
	}
	for _, d := range dirs {
		if testDirs[d] {
			return Test
		}
	}
	if testNames.MatchString(base) {
		return Test
	}
	return Product
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
