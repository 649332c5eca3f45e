package change

import (
	"strings"

	"sandboxrun/gitdiff/gitname"
)

// Hazard is one class of paths that programs of the people and machines who check a tree out obey. None of them does harm
// by being checked out; the next push, build, or start of an editor or an agent there is what runs them.
type Hazard struct {
	Class string // stable name, for policies and results
	Why   string // what obeys such a path, for people
	// Paths: "name" is a file of that name anywhere, "name/" everything in a directory of that name anywhere, "/a/b" the
	// same from the root of the tree, and "*.x" every file with that ending. Letters of any case, and other spellings that
	// some file system takes for the same, count.
	Paths []string
}

// Hazards is the table of classes; HAZARDS.md says the same for people. A path belongs to the first class that has it.
var Hazards = []Hazard{
	{"workflow", "runs on the machines of a CI service when it is pushed", []string{
		"/.github/workflows/", "/.github/actions/", "action.yml", "action.yaml", ".gitlab-ci.yml", "/.gitlab/", ".circleci/", "Jenkinsfile", "azure-pipelines.yml",
		"azure-pipelines.yaml", ".buildkite/", ".travis.yml", "appveyor.yml", ".appveyor.yml", "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml",
		".woodpecker/", ".teamcity/", "/.forgejo/workflows/", "/.gitea/workflows/", "cloudbuild.yaml", ".semaphore/", ".cirrus.yml",
		"/.github/dependabot.yml", "renovate.json", "CODEOWNERS",
	}},
	{"hook", "runs on git commands once the hooks of the project are set up", []string{
		".husky/", ".githooks/", "/hooks/", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook-local.yml", ".lefthook/", ".pre-commit-config.yaml",
		".pre-commit-hooks.yaml", ".overcommit.yml", ".huskyrc", ".lintstagedrc", ".lintstagedrc.json", "lint-staged.config.js",
	}},
	{"editor", "is obeyed by an editor or a shell that enters the directory", []string{
		".vscode/", ".idea/", ".devcontainer/", ".devcontainer.json", ".envrc", ".zed/", ".fleet/", ".vs/", ".vim/", ".nvim/", ".nvimrc", ".exrc", ".vimrc", ".nvim.lua",
		".dir-locals.el", "*.code-workspace", ".sublime-project", "*.sublime-project", ".autoenv", ".mise.toml", "mise.toml", ".tool-versions", ".replit",
		".gitpod.yml", ".lldbinit", ".gdbinit",
	}},
	{"agent", "is obeyed by a coding agent that works in the tree", []string{
		"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "CODEX.md", "COPILOT.md", ".mcp.json", "mcp.json", ".claude/", ".codex/",
		".gemini/", ".opencode/", "opencode.json", "opencode.jsonc", ".factory/", ".qwen/", ".cursor/", ".cursorrules", ".windsurf/", ".windsurfrules",
		".clinerules", ".clinerules/", ".cline/", ".roo/", ".aider.conf.yml", ".continue/", ".goose/", ".goosehints", ".amazonq/", ".kiro/", ".copilot/", ".agents/", ".junie/",
		"/.github/copilot-instructions.md", "/.github/instructions/", "/.github/agents/", "/.github/prompts/",
		"/.github/hooks/", "/.github/copilot/",
	}},
	{classModules, "tells git where to fetch other repositories from, and where to put them", []string{".gitmodules"}},
	{"git_settings", "is read by git itself", []string{".lfsconfig", ".mailmap", ".gitconfig"}},
	{"packages", "tells a package manager where packages come from, or runs when they are installed", []string{
		".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/", ".pnpmfile.cjs", "bunfig.toml", ".pypirc", "pip.conf", "pip.ini", ".cargo/", ".bundle/", "sitecustomize.py",
		"usercustomize.py", "*.pth", ".condarc", "nuget.config", ".netrc", "_netrc", "go.work",
	}},
	{"build", "runs when the project is built or tested", []string{
		"setup.py", "setup.cfg", "conftest.py", "noxfile.py", "Makefile", "GNUmakefile", "*.mk", "Justfile", "Taskfile.yml", "Rakefile", "build.rs", "binding.gyp",
		"build.gradle", "build.gradle.kts", "settings.gradle", "gradlew", ".mvn/", "mvnw", "CMakeLists.txt", "Dangerfile", "Vagrantfile",
	}},
}

// Classes that are found in the content or the kind of an entry.
const (
	classModules    = "submodules"
	classNewModule  = "submodule_link"   // a commit of another repository
	classModuleTrap = "submodule_attack" // a .gitmodules that attacks whoever runs git on it
	classRefused    = "refused_by_git"   // a file git would not read
	classAttributes = "attributes"       // a .gitattributes that does more than line ends
	classScripts    = "package_scripts"  // a package.json with other scripts
)

// hazardIndex is the table, by what a component of a path is looked up with.
var hazardIndex = func() (x struct {
	files, dirs, ends map[string]*Hazard
	rooted            []rootedHazard
}) {
	x.files, x.dirs, x.ends = map[string]*Hazard{}, map[string]*Hazard{}, map[string]*Hazard{}
	for i := range Hazards {
		h := &Hazards[i]
		for _, p := range h.Paths {
			name := gitname.Fold(strings.Trim(p, "/*"))
			switch {
			case strings.HasPrefix(p, "/"):
				x.rooted = append(x.rooted, rootedHazard{name, strings.HasSuffix(p, "/"), h})
			case strings.HasPrefix(p, "*."):
				x.ends[name] = h
			case strings.HasSuffix(p, "/"):
				x.dirs[name] = h
			default:
				x.files[name] = h
			}
		}
	}
	return x
}()

type rootedHazard struct {
	path   string
	within bool
	*Hazard
}

// hazardOf is the class a path belongs to, nil for none. A link in the place of a directory counts as it.
func hazardOf(path string) *Hazard {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = gitname.Fold(parts[i])
	}
	last := parts[len(parts)-1]
	if h := hazardIndex.files[last]; h != nil {
		return h
	}
	for _, part := range parts {
		if h := hazardIndex.dirs[part]; h != nil {
			return h
		}
	}
	whole := strings.Join(parts, "/")
	for _, r := range hazardIndex.rooted {
		if whole == r.path || r.within && strings.HasPrefix(whole, r.path+"/") {
			return r.Hazard
		}
	}
	if dot := strings.LastIndexByte(last, '.'); dot >= 0 {
		return hazardIndex.ends[last[dot:]]
	}
	return nil
}
