package begin

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestLookFindsTheTestsOfAProject(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		files        map[string]string
		check, setup string
	}{
		{"empty", nil, "", ""},
		{"npm", map[string]string{"package.json": `{"scripts":{"test":"jest"},"dependencies":{"a":"1"}}`, "package-lock.json": "{}"}, "npm test", "npm ci"},
		{"npm without a lock", map[string]string{"package.json": `{"scripts":{"test":"jest"},"dependencies":{"a":"1"}}`}, "npm test", "npm install"},
		{"npm without dependencies", map[string]string{"package.json": `{"scripts":{"test":"node --test"}}`}, "npm test", ""},
		{"npm's placeholder", map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, "", ""},
		{"broken manifest", map[string]string{"package.json": `{`}, "", ""},
		{"yarn", map[string]string{"package.json": `{"scripts":{"test":"x"},"devDependencies":{"a":"1"}}`, "yarn.lock": ""}, "yarn test", "yarn install --frozen-lockfile"},
		{"go", map[string]string{"go.mod": "module x"}, "go test ./...", ""},
		{"pytest", map[string]string{"requirements.txt": "pytest==8"}, "python3 -m pytest", "python3 -m pip install --user -r requirements.txt"},
		{"unittest", map[string]string{"setup.py": ""}, "python3 -m unittest", ""},
		{"rust", map[string]string{"Cargo.toml": ""}, "cargo test --offline", "cargo fetch"},
		{"maven", map[string]string{"pom.xml": "", "mvnw": ""}, "./mvnw -q -B -o test", "./mvnw -q -B dependency:go-offline"},
		{"gradle", map[string]string{"build.gradle.kts": ""}, "gradle --no-daemon --offline test", "gradle --no-daemon testClasses"},
		{"ruby", map[string]string{"Gemfile": "", ".rspec": ""}, "bundle exec rspec", "bundle install"},
		{"make", map[string]string{"Makefile": "all: x\n\ntest: all\n\tsh t.sh\n"}, "make test", ""},
		{"make without tests", map[string]string{"Makefile": "testing: x\ntest := 1\n"}, "", ""},
		{"shell", map[string]string{"test.sh": "exit 0"}, "sh test.sh", ""},
		{"the language before make", map[string]string{"go.mod": "", "Makefile": "test:\n"}, "go test ./...", ""},
	} {
		dir := t.TempDir()
		for name, text := range tt.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := Look(dir)
		if got.Check != tt.check || strings.Join(got.Setup, ";") != tt.setup {
			t.Errorf("%s: check %q, setup %q", tt.name, got.Check, got.Setup)
		}
	}
}

// Pipes, links and files without end in a repository neither block the look nor lead it elsewhere.
func TestLookReadsRegularSmallFilesOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "package.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "Makefile")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "requirements.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "requirements.txt"), 1<<40); err != nil {
		t.Fatal(err)
	}
	if got := Look(dir); got.Check != "python3 -m unittest" || len(got.Kinds) != 1 {
		t.Errorf("%+v", got)
	}
}
