package change

// runsWhenBuilt are the classes of paths that package managers and build, test and format tools obey. Most of them are
// ordinary work of an agent, so they are notes; a configuration that refuses them does so by class.
var runsWhenBuilt = []Hazard{
	{Class: "packages", Why: "tells a package manager where packages come from, or runs when they are installed", Obeyers: []Obeyer{
		{"npm, Yarn, pnpm, Bun, Deno", "docs.npmjs.com/cli/configuring-npm/npmrc", []string{
			".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/", ".pnp.cjs", ".pnp.loader.mjs", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpm-workspace.yaml", "bunfig.toml", "deno.json", "deno.jsonc",
			".ncurc.*", ".npmpackagejsonlintrc"}},
		{"pip, conda, uv, Poetry, and Python's own start", "docs.python.org/3/library/site.html", []string{
			".pypirc", "pip.conf", "pip.ini", "uv.toml", "poetry.toml", "Pipfile", "pixi.toml", ".condarc", "sitecustomize.py", "usercustomize.py", "*.pth"}},
		{"Cargo, rustup", "doc.rust-lang.org/cargo/reference/config.html", []string{".cargo/", "rust-toolchain", "rust-toolchain.toml"}},
		{"Go", "go.dev/ref/mod", []string{"go.work"}},
		{"Bundler, RubyGems", "bundler.io/man/bundle-config.1.html", []string{".bundle/", "Gemfile", "gems.rb", "*.gemspec", ".gemrc"}},
		{"NuGet", "learn.microsoft.com/nuget/reference/nuget-config-file", []string{"nuget.config", "packages.config", "dotnet-tools.json"}},
		{"Composer", "getcomposer.org/doc/articles/scripts.md", []string{"composer.json", "auth.json"}},
		{"other package managers", "everything.curl.dev/usingcurl/netrc", []string{
			".netrc", "_netrc", ".curlrc", ".wgetrc", "vcpkg.json", "vcpkg-configuration.json", "conanfile.py", "conanfile.txt", "Brewfile", "Podfile", "Cartfile", "Package.swift",
			"flake.nix", "shell.nix", "default.nix", "guix.scm", "manifest.scm", "spack.yaml", "cpanfile"}},
	}},
	{Class: "build", Why: "runs when the project is built, tested, formatted or checked", Obeyers: []Obeyer{
		{"make, ninja, CMake, Meson, Autotools, SCons, task runners", "www.gnu.org/software/make/manual", []string{
			"Makefile", "GNUmakefile", "Makefile.*", "*.mk", "*.mak", "*.ninja", "CMakeLists.txt", "*.cmake", "CMakePresets.json", "CMakeUserPresets.json", "meson.build", "configure", "configure.ac",
			"autogen.sh", "bootstrap.sh", "SConstruct", "SConscript", "Justfile", ".justfile", "Taskfile.*", "magefile.go", "/magefiles/", "Earthfile", "Dangerfile", "Vagrantfile", "xmake.lua",
			"premake5.lua", "wscript", "dagger.json"}},
		{"Bazel, Buck, Pants", "bazel.build/run/bazelrc", []string{
			".bazelrc", ".bazelversion", ".bazeliskrc", "BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", "*.bzl", "/tools/bazel", ".buckconfig", "BUCK", "pants.toml"}},
		{"containers", "docs.docker.com/reference/dockerfile", []string{
			"Dockerfile", "Dockerfile.*", "*.dockerfile", "Containerfile", "Containerfile.*", "docker-compose.*", "compose.yml", "compose.yaml", "compose.override.*", "docker-bake.*"}},
		{"Python", "docs.pytest.org/en/stable/how-to/writing_plugins.html", []string{
			"setup.py", "setup.cfg", "pyproject.toml", "conftest.py", "pytest.ini", ".pytest.ini", "noxfile.py", "tox.ini", "fabfile.py", "dodo.py", ".coveragerc", ".pylintrc", "pylintrc",
			".flake8", "mypy.ini", ".mypy.ini", "hatch_build.py", "/docs/conf.py", "/docs/source/conf.py", "/doc/conf.py", "mkdocs.yml"}},
		{"JavaScript bundlers, frameworks, test runners and linters", "vite.dev/config", []string{
			"webpack.config.*", "vite.config.*", "vitest.config.*", "vitest.workspace.*", "rollup.config.*", "esbuild.config.*", "rspack.config.*", "tsup.config.*", "next.config.*", "nuxt.config.*",
			"svelte.config.*", "astro.config.*", "remix.config.*", "angular.json", "nx.json", "turbo.json", "lerna.json", "metro.config.*", "gulpfile.*", "Gruntfile.*",
			"babel.config.*", ".babelrc", ".babelrc.*", "postcss.config.*", ".postcssrc", ".postcssrc.*", "tailwind.config.*", ".storybook/", "jest.config.*", "jest.setup.*", "karma.conf.*",
			".mocharc.*", "playwright.config.*", "cypress.config.*", "wdio.conf.*", "ava.config.*", ".c8rc.*", ".nycrc", ".nycrc.*", "eslint.config.*", ".eslintrc", ".eslintrc.*",
			"prettier.config.*", ".prettierrc", ".prettierrc.*", "stylelint.config.*", ".stylelintrc", ".stylelintrc.*", ".releaserc", ".releaserc.*", "release.config.*", ".release-it.*", ".changeset/",
			"electron-builder.*", "forge.config.*"}},
		{"Rust, Go", "doc.rust-lang.org/cargo/reference/build-scripts.html", []string{"build.rs", ".goreleaser.*", ".golangci.*", ".custom-gcl.yml"}},
		{"the Java virtual machine", "docs.gradle.org/current/userguide/gradle_wrapper.html", []string{
			"build.gradle", "settings.gradle", "init.gradle", "*.gradle", "*.gradle.kts", "gradle.properties", "gradlew", "gradlew.bat", "/gradle/wrapper/", "/buildSrc/", ".mvn/", "mvnw", "mvnw.cmd", "pom.xml",
			"build.xml", "ivy.xml", "build.sbt", "*.sbt", ".sbtopts", ".jvmopts", "build.sc", "build.mill", "project.clj", "deps.edn", "bb.edn", "shadow-cljs.edn"}},
		{".NET", "learn.microsoft.com/visualstudio/msbuild/customize-by-directory", []string{
			"Directory.Build.*", "Directory.Packages.props", "Directory.Solution.*", "*.csproj", "*.vbproj", "*.fsproj", "*.vcxproj", "*.props", "*.targets", "*.sln", "*.slnx", "global.json",
			"build.cake", "build.ps1"}},
		{"Ruby, PHP, Perl, Elixir, Erlang, Haskell, OCaml and others", "hexdocs.pm/mix/Mix.html", []string{
			"Rakefile", "*.rake", ".rspec", ".rubocop.yml", "Fastfile", "Appfile", "binding.gyp", "*.gyp", "phpunit.xml", "phpunit.xml.dist", ".php-cs-fixer.php", ".php-cs-fixer.dist.php",
			"rector.php", "phpstan.neon", "Makefile.PL", "Build.PL", ".perlcriticrc", "mix.exs", ".formatter.exs", ".credo.exs", "rebar.config", "rebar.config.script", "Setup.hs", "Setup.lhs", "stack.yaml",
			"cabal.project", "dune", "dune-project", "build.zig", "*.nimble", "config.nims", "nim.cfg", "shard.yml", "*.rockspec", ".busted", ".luacheckrc", "analysis_options.yaml"}},
		{"PlatformIO", "docs.platformio.org/en/latest/projectconf", []string{"platformio.ini"}},
	}},
}
