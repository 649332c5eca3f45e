package change

import "sandboxrun/gitdiff"

// runsElsewhere are the classes of paths that services, git, editors, agents and file managers obey.
var runsElsewhere = []Hazard{
	{Class: "workflow", Why: "runs on the machines of a CI service when it is pushed", Obeyers: []Obeyer{
		{"GitHub Actions and GitHub's own services", "docs.github.com/actions/reference/workflows-and-actions/workflow-syntax", []string{
			"/.github/workflows/", "/.github/actions/", "action.yml", "action.yaml", "/.github/dependabot.yml", "/.github/dependabot.yaml", "/.github/codeql/", "CODEOWNERS"}},
		{"GitLab", "docs.gitlab.com/ci/yaml", []string{".gitlab-ci.yml", "/.gitlab/"}},
		{"Gitea, Forgejo, Woodpecker and Drone", "woodpecker-ci.org/docs/usage/workflow-syntax", []string{
			"/.forgejo/workflows/", "/.gitea/workflows/", ".woodpecker.yml", ".woodpecker.yaml", ".woodpecker/", ".drone.yml", ".drone.star", ".drone.jsonnet"}},
		{"sourcehut", "man.sr.ht/builds.sr.ht", []string{"/.build.yml", "/.builds/"}},
		{"Azure Pipelines", "learn.microsoft.com/azure/devops/pipelines/yaml-schema", []string{
			"azure-pipelines.*", "/.azure-pipelines/", "/azure-pipelines/", "/.pipelines/", "/.azuredevops/"}},
		{"AWS CodeBuild, CodeDeploy and Amplify", "docs.aws.amazon.com/codebuild/latest/userguide/build-spec-ref.html", []string{
			"buildspec.yml", "buildspec.yaml", "appspec.yml", "appspec.yaml", "amplify.yml"}},
		{"Google Cloud Build, Prow", "cloud.google.com/build/docs/build-config-file-schema", []string{"cloudbuild.yaml", "cloudbuild.yml", "cloudbuild.json", ".prow.yaml", ".prow/"}},
		{"other CI services", "www.jenkins.io/doc/book/pipeline/jenkinsfile", []string{
			".circleci/", "Jenkinsfile", "Jenkinsfile.*", ".jenkins/", ".buildkite/", ".travis.yml", "appveyor.yml", ".appveyor.yml", "bitbucket-pipelines.yml", ".teamcity/",
			".semaphore/", ".cirrus.yml", ".cirrus.star", ".harness/", ".bazelci/", ".taskcluster.yml", ".zuul.yaml", "zuul.yaml", ".zuul.d/", "zuul.d/", ".tekton/",
			".onedev-buildspec.yml", "wercker.yml", "codefresh.yml", "bitrise.yml", "codemagic.yaml", "/.screwdriver.yaml", "screwdriver.yaml", "/.vela.yml", "/.ci/"}},
		{"bots that merge, update and review", "docs.renovatebot.com/configuration-options", []string{
			"renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.json", ".mergify.yml", "/.mergify/", "bors.toml", "/.github/settings.yml", "/.github/mergify.yml",
			".pr_agent.toml", ".coderabbit.yaml", ".sourcery.yaml", "greptile.json", "ellipsis.yaml", ".kodiak.toml", ".palantir/", ".bulldozer.yml", ".policy.yml"}},
	}},
	{Class: "hosting", Why: "changes what a hosting service builds, serves or redirects when it is pushed", Obeyers: []Obeyer{
		{"GitHub Pages and Jekyll", "docs.github.com/pages/configuring-a-custom-domain-for-your-github-pages-site", []string{"CNAME", "/_config.yml", "/_plugins/"}},
		{"Vercel, Netlify and Cloudflare", "docs.netlify.com/configure-builds/file-based-configuration", []string{
			"vercel.json", "now.json", "/.vercel/", "netlify.toml", "/netlify/", "/.netlify/", "_redirects", "_headers", "_routes.json", "wrangler.toml", "wrangler.json", "wrangler.jsonc"}},
		{"Heroku, Fly, Render, Railway and others", "devcenter.heroku.com/articles/procfile", []string{
			"Procfile", "heroku.yml", "fly.toml", "render.yaml", "railway.json", "railway.toml", "nixpacks.toml", "captain-definition", "/.do/",
			"/.platform/", "/.platform.app.yaml", "/.upsun/", "koyeb.yaml", "zeabur.json", "zbpack.json"}},
		{"Google, Amazon and Firebase", "firebase.google.com/docs/cli", []string{
			"firebase.json", ".firebaserc", "firestore.rules", "storage.rules", "database.rules.json", "app.yaml", "/.ebextensions/", "samconfig.toml", "cdk.json", "apprunner.yaml"}},
		{"deployment tools", "www.serverless.com/framework/docs/providers/aws/guide/serverless.yml", []string{
			"serverless.*", "Pulumi.*", "skaffold.yaml", "Tiltfile", "*.tf", "*.tf.json", "*.tofu", "terragrunt.hcl", "ansible.cfg", "Capfile", "deploy.rb", "helmfile.yaml", "okteto.yml"}},
		{"Read the Docs", "docs.readthedocs.com/platform/stable/config-file/v2.html", []string{".readthedocs.yaml", ".readthedocs.yml"}},
		{"web servers", "httpd.apache.org/docs/current/howto/htaccess.html", []string{".htaccess", ".htpasswd", "web.config", ".user.ini", "crossdomain.xml"}},
	}},
	{Class: "hook", Why: "runs on git commands once the hooks of the project are set up", Obeyers: []Obeyer{
		{"git, with core.hooksPath", "git-scm.com/docs/githooks", []string{".githooks/", "/hooks/", ".git-hooks/", "/git-hooks/"}},
		{"husky, lint-staged, commitlint", "typicode.github.io/husky", []string{
			".husky/", ".huskyrc", ".huskyrc.*", ".lintstagedrc", ".lintstagedrc.*", "lint-staged.config.*", ".commitlintrc", ".commitlintrc.*", "commitlint.config.*",
			".simple-git-hooks.*", "simple-git-hooks.*"}},
		{"lefthook, pre-commit, overcommit and others", "pre-commit.com", []string{
			"lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*", ".lefthook/", ".pre-commit-config.yaml", ".pre-commit-config.yml", ".pre-commit-hooks.yaml",
			"prek.toml", ".overcommit.yml", ".git-hooks.*", "captainhook.json", "grumphp.yml", ".cargo-husky/"}},
	}},
	{Class: "editor", Why: "is obeyed by an editor, a debugger or a shell that enters the directory", Obeyers: []Obeyer{
		{"Visual Studio Code and its relatives", "code.visualstudio.com/docs/editing/workspaces/workspace-trust", []string{".vscode/", "*.code-workspace", ".theia/", ".lapce/"}},
		{"JetBrains", "www.jetbrains.com/help/idea/project-security.html", []string{".idea/", ".run/", ".fleet/", "*.iml", "*.ipr"}},
		{"Visual Studio, Xcode, Eclipse", "learn.microsoft.com/visualstudio/ide/reference/trust-settings", []string{".vs/", "*.suo", "project.pbxproj", "*.xcscheme", "*.xcworkspacedata", ".settings/", ".project"}},
		{"development containers and online editors", "containers.dev/implementors/json_reference", []string{
			".devcontainer/", ".devcontainer.json", ".gitpod.yml", ".gitpod/", ".replit", "replit.nix", ".idx/", ".codesandbox/", ".stackblitzrc", "devfile.yaml", ".devfile.yaml"}},
		{"Vim, Neovim, Emacs, Sublime Text, Zed, Helix, Kakoune", "vimhelp.org/starting.txt.html#exrc", []string{
			".vim/", ".nvim/", ".nvimrc", ".exrc", ".vimrc", ".nvim.lua", ".lvimrc", ".local.vimrc", "_vimrc", ".vimspector.json", ".neoconf.json", ".ycm_extra_conf.py",
			".dir-locals.el", ".dir-locals-2.el", ".projectile", ".sublime-project", "*.sublime-project", ".zed/", ".helix/", ".kakrc", ".nova/"}},
		{"language servers", "clangd.llvm.org/config", []string{".clangd", ".ccls"}},
		{"shells and version managers", "direnv.net", []string{
			".envrc", ".env", ".env.*", ".autoenv", ".autoenv.zsh", "mise.*", ".mise.*", ".mise/", ".tool-versions", ".sdkmanrc", ".nvmrc", ".node-version", ".python-version",
			".ruby-version", ".java-version", ".go-version", "devbox.json", "devenv.nix", "devenv.yaml", ".tmuxinator.yml", ".tmuxp.*", ".bashrc", ".bash_profile", ".profile",
			".zshrc", ".zshenv", ".zprofile", ".inputrc"}},
		{"debuggers and consoles", "sourceware.org/gdb/current/onlinedocs/gdb.html/Auto_002dloading-safe-path.html", []string{
			".lldbinit", ".gdbinit", ".irbrc", ".pryrc", ".byebugrc", ".iex.exs", ".ghci", ".ocamlinit", ".Rprofile", ".Renviron", ".pythonrc", ".psysh.php"}},
		{"watchers that start programs", "facebook.github.io/watchman/docs/config", []string{".watchmanconfig", "nodemon.json", ".air.toml", "Guardfile", "bacon.toml"}},
	}},
	{Class: "agent", Why: "is obeyed by a coding agent that works in the tree", Obeyers: []Obeyer{
		{"the agents of this program", "the Obeys of each, see \"sandboxrun agents show\"", []string{
			"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "CODEX.md", "COPILOT.md", ".mcp.json", "mcp.json", ".claude/", ".codex/",
			".gemini/", ".opencode/", "opencode.json", "opencode.jsonc", ".factory/", ".kimi-code/", ".qwen/", ".copilot/", ".agents/", "/.github/copilot-instructions.md",
			"/.github/instructions/", "/.github/agents/", "/.github/prompts/", "/.github/hooks/", "/.github/copilot/", "/.github/chatmodes/", "/.github/skills/"}},
		{"Cursor, Windsurf, Cline, Roo, Kilo", "docs.cursor.com/context/rules", []string{
			".cursor/", ".cursorrules", ".windsurf/", ".windsurfrules", ".clinerules", ".clinerules/", ".cline/", ".roo/", ".roorules", ".roomodes", ".kilocode/", ".kilo/", ".kilocoderules",
			".kilocodemodes", ".kilocodeignore", "kilo.json", "kilo.jsonc"}},
		{"Crush, Pi, Goose, Aider, Continue, Amp, Warp, Zed", "aider.chat/docs/config/aider_conf.html", []string{
			"crush.json", ".crush.json", ".crush/", "CRUSH.md", ".pi/", ".goose/", ".goosehints", ".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json", ".continue/",
			".continuerules", "AGENT.md", ".amp/", "WARP.md", ".warp/", ".rules"}},
		{"agents of other makers", "openhands.dev", []string{
			".amazonq/", ".kiro/", ".junie/", ".trae/", ".augment/", ".augment-guidelines", ".openhands/", ".openhands_instructions", ".devin/", ".tabnine/", ".rovodev/", ".zencoder/",
			".qodo/", ".plandex/", ".sourcegraph/", ".cody/", "JULES.md", "replit.md", ".iflow/", "IFLOW.md", ".codebuddy/", "CODEBUDDY.md", ".mux/", ".letta/"}},
	}},
	{Class: "viewed", Why: "acts when a file manager only shows the directory it is in", Grade: gitdiff.Flaw, Obeyers: []Obeyer{
		{"Windows Explorer", "learn.microsoft.com/windows/win32/shell/how-to-customize-folders-with-desktop-ini", []string{
			"desktop.ini", "autorun.inf", "*.lnk", "*.scf", "*.pif", "*.library-ms", "*.search-ms", "*.searchconnector-ms", "*.settingcontent-ms"}},
	}},
	{Class: "opened", Why: "starts a program or opens an address when a person opens it like a document", Obeyers: []Obeyer{
		{"Windows Explorer, Finder and desktop environments", "specifications.freedesktop.org/desktop-entry-spec", []string{
			"*.url", "*.webloc", "*.inetloc", "*.fileloc", "*.desktop", ".directory", "*.command", "*.terminal", "*.workflow", "*.hta"}},
	}},
	{Class: classModules, Why: "tells git where to fetch other repositories from, and where to put them", Obeyers: []Obeyer{
		{"git", "git-scm.com/docs/gitmodules", []string{".gitmodules"}},
	}},
	{Class: "git_settings", Why: "is read by git itself, or by another version control system in its place", Obeyers: []Obeyer{
		{"git and git-lfs", "git-scm.com/docs/gitmailmap", []string{".lfsconfig", ".mailmap", ".gitconfig", ".gitreview"}},
	}},
	{Class: "other_repository", Why: "is taken for a repository of another version control system, whose settings start programs", Grade: gitdiff.Flaw, Obeyers: []Obeyer{
		{"Mercurial, Sapling, Jujutsu, Subversion, Fossil", "www.mercurial-scm.org/doc/hgrc.5.html", []string{".hg/", ".sl/", ".jj/", ".svn/", ".bzr/", "_FOSSIL_", ".fslckout"}},
	}},
}
