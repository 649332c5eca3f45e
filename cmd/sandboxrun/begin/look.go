package begin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/runner/document"
)

// maxManifest bounds what is read of one file of a repository, in bytes.
const maxManifest = 1 << 20

// Project is what a look at the files in the root of a repository tells. Every text in it comes from this program, none
// from the repository.
type Project struct {
	Kinds []string // such as "Go"
	Tools []string // programs the image needs
	Setup []string // commands that fetch what the tests need
	Check string   // command that runs the tests, "" when none was found
}

// Look looks at the files in the root of a repository. It reads a bounded part of regular files and runs nothing.
func Look(root string) Project {
	l := looker{root: root}
	for _, look := range []func(){l.node, l.golang, l.rust, l.python, l.maven, l.gradle, l.ruby, l.makefile, l.script} {
		look()
	}
	return l.found
}

type looker struct {
	root  string
	found Project
}

func (l *looker) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Lstat(filepath.Join(l.root, name))
		return err == nil && info.Mode().IsRegular()
	})
}

func (l *looker) read(name string) string {
	if !l.has(name) { // which follows no link
		return ""
	}
	data, err := document.ReadSmall(filepath.Join(l.root, name), maxManifest)
	if err != nil {
		return ""
	}
	return string(data)
}

// add records one kind of project. The first one with a test command gives it.
func (l *looker) add(kind, tool, setup, check string) {
	f := &l.found
	f.Kinds, f.Tools = append(f.Kinds, kind), append(f.Tools, tool)
	if setup != "" {
		f.Setup = append(f.Setup, setup)
	}
	if f.Check == "" {
		f.Check = check
	}
}

func (l *looker) node() {
	text := l.read("package.json")
	if text == "" {
		return
	}
	var manifest struct {
		Scripts         map[string]string `json:"scripts"`
		Dependencies    map[string]any    `json:"dependencies"`
		DevDependencies map[string]any    `json:"devDependencies"`
	}
	if json.Unmarshal([]byte(text), &manifest) != nil {
		return
	}
	tool, setup := "npm", "npm install"
	switch {
	case l.has("pnpm-lock.yaml"):
		tool, setup = "pnpm", "pnpm install --frozen-lockfile"
	case l.has("yarn.lock"):
		tool, setup = "yarn", "yarn install --frozen-lockfile"
	case l.has("bun.lock", "bun.lockb"):
		tool, setup = "bun", "bun install --frozen-lockfile"
	case l.has("package-lock.json", "npm-shrinkwrap.json"):
		setup = "npm ci"
	}
	if len(manifest.Dependencies)+len(manifest.DevDependencies) == 0 {
		setup = ""
	}
	check := ""
	if script := manifest.Scripts["test"]; script != "" && !strings.Contains(script, "no test specified") {
		check = tool + " test"
		if tool == "bun" {
			check = "bun run test"
		}
	}
	l.add("Node", tool, setup, check)
}

func (l *looker) golang() {
	if !l.has("go.mod") {
		return
	}
	setup := ""
	if l.has("go.sum") {
		setup = "go mod download"
	}
	l.add("Go", "go", setup, "go test ./...")
}

func (l *looker) rust() {
	if l.has("Cargo.toml") {
		l.add("Rust", "cargo", "cargo fetch", "cargo test --offline")
	}
}

func (l *looker) python() {
	if !l.has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "pytest.ini") {
		return
	}
	setup, check := "", "python3 -m unittest"
	if l.has("requirements.txt") {
		setup = "python3 -m pip install --user -r requirements.txt"
	}
	named := l.read("pyproject.toml") + l.read("requirements.txt") + l.read("setup.cfg") + l.read("tox.ini")
	if l.has("pytest.ini", "conftest.py") || strings.Contains(named, "pytest") {
		check = "python3 -m pytest"
	}
	l.add("Python", "python3", setup, check)
}

func (l *looker) maven() {
	if !l.has("pom.xml") {
		return
	}
	tool := "mvn"
	if l.has("mvnw") {
		tool = "./mvnw"
	}
	l.add("Java (Maven)", "java", tool+" -q -B dependency:go-offline", tool+" -q -B -o test")
}

func (l *looker) gradle() {
	if !l.has("build.gradle", "build.gradle.kts") {
		return
	}
	tool := "gradle"
	if l.has("gradlew") {
		tool = "./gradlew"
	}
	l.add("Java (Gradle)", "java", tool+" --no-daemon testClasses", tool+" --no-daemon --offline test")
}

func (l *looker) ruby() {
	if !l.has("Gemfile") {
		return
	}
	check := ""
	switch {
	case l.has(".rspec"):
		check = "bundle exec rspec"
	case l.has("Rakefile"):
		check = "bundle exec rake test"
	}
	l.add("Ruby", "bundle", "bundle install", check)
}

var testTarget = regexp.MustCompile(`(?m)^test[ \t]*:([^=]|$)`)

func (l *looker) makefile() {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if testTarget.MatchString(l.read(name)) {
			l.add("make", "make", "", "make test")
			return
		}
	}
}

func (l *looker) script() {
	if l.found.Check == "" && l.has("test.sh") {
		l.add("shell", "sh", "", "sh test.sh")
	}
}
