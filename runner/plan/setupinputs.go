package plan

import (
	"path"
	"strings"

	"sandboxrun/runner/check"
)

// setupInputs are the manifests and lock files of the common ecosystems, and what their tools read besides: whatever decides
// what an installation installs and runs. A task that names its own list replaces this one.
var setupInputs = []string{
	// npm, Yarn, pnpm, Bun, Deno
	"**/package.json", "**/package-lock.json", "**/npm-shrinkwrap.json", "**/.npmrc", "**/yarn.lock", "**/.yarnrc", "**/.yarnrc.yml",
	"**/.yarn/releases/**", "**/.yarn/plugins/**", "**/.yarn/patches/**", "**/pnpm-lock.yaml", "**/pnpm-workspace.yaml", "**/.pnpmfile.cjs",
	"**/bun.lock", "**/bun.lockb", "**/bunfig.toml", "**/deno.json", "**/deno.jsonc", "**/deno.lock", "**/lerna.json", "patches/**",
	// Go
	"**/go.mod", "**/go.sum", "**/go.work", "**/go.work.sum", "vendor/modules.txt",
	// Python
	"**/pyproject.toml", "**/setup.py", "**/setup.cfg", "**/requirements*.txt", "**/requirements*.in", "**/requirements/**", "**/constraints*.txt",
	"**/Pipfile", "**/Pipfile.lock", "**/poetry.lock", "**/poetry.toml", "**/uv.lock", "**/uv.toml", "**/pdm.lock", "**/environment.yml",
	"**/environment.yaml", "**/conda-lock.yml", "**/pip.conf",
	// Rust
	"**/Cargo.toml", "**/Cargo.lock", "**/.cargo/config", "**/.cargo/config.toml", "**/build.rs", "**/rust-toolchain", "**/rust-toolchain.toml",
	// JVM
	"**/pom.xml", "**/mvnw", "**/.mvn/**", "**/build.gradle", "**/build.gradle.kts", "**/settings.gradle", "**/settings.gradle.kts", "**/gradle.properties",
	"**/gradle.lockfile", "**/gradlew", "**/gradle/**", "**/buildSrc/**", "**/build.sbt", "**/project/*.sbt", "**/project/build.properties",
	// Ruby, PHP, .NET, Elixir, Dart, Swift
	"**/Gemfile", "**/Gemfile.lock", "**/*.gemspec", "**/.bundle/config", "**/composer.json", "**/composer.lock", "**/*.csproj", "**/*.fsproj",
	"**/*.vbproj", "**/*.sln", "**/Directory.*.props", "**/Directory.*.targets", "**/packages.lock.json", "**/nuget.config", "**/global.json",
	"**/mix.exs", "**/mix.lock", "**/pubspec.yaml", "**/pubspec.lock", "**/Package.swift", "**/Package.resolved",
	// versions of tools, and git's own
	"**/.nvmrc", "**/.node-version", "**/.python-version", "**/.ruby-version", "**/.tool-versions", "**/mise.toml", "**/.gitmodules",
}

// buildFiles are the files that tools read whose names alone do not say so.
var buildFiles = map[string][]string{
	"make":  {"**/Makefile", "**/makefile", "**/GNUmakefile", "**/*.mk"},
	"gmake": {"**/Makefile", "**/makefile", "**/GNUmakefile", "**/*.mk"},
	"just":  {"**/justfile", "**/.justfile", "**/*.just"},
	"task":  {"**/Taskfile.yml", "**/Taskfile.yaml"},
	"rake":  {"**/Rakefile", "**/*.rake"},
	"cmake": {"**/CMakeLists.txt", "**/*.cmake", "**/CMakePresets.json"},
	"ninja": {"**/*.ninja"},
	"tox":   {"**/tox.ini"},
	"nox":   {"**/noxfile.py"},
	"nix":   {"**/*.nix", "**/flake.lock"},
}

// maxNamedInputs bounds the files that setup commands name.
const maxNamedInputs = 200

// inputsOf lists what a task's setup commands read, as globs of whole paths: what the task says, else the usual
// files and those that the commands name.
func inputsOf(asked, commands []string) []string {
	if asked != nil {
		return unique(asked)
	}
	if len(commands) == 0 {
		return []string{}
	}
	return unique(append(append([]string{}, setupInputs...), namedInputs(commands)...))
}

// namedInputs lists the files that commands may name: every word that could be one. A command may change its directory
// first, so a path may begin anywhere; a word without a dot or a slash is a file at the root only, as most such words are none.
func namedInputs(commands []string) []string {
	var list []string
	for _, text := range commands {
		words := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`;&|()<>=$,", r) })
		for _, w := range words {
			list = append(list, buildFiles[w]...)
			name := path.Clean(w)
			for strings.HasPrefix(name, "../") {
				name = name[3:]
			}
			if strings.HasPrefix(name, "-") || path.IsAbs(name) || len(name) > 250 || strings.Contains(w, "://") || check.ValidGlob(name) != "" {
				continue
			}
			if strings.ContainsAny(name, "./") {
				name = "**/" + name
			}
			if list = append(list, name); len(list) >= maxNamedInputs {
				return list
			}
		}
	}
	return list
}
