package e2e

import (
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

// projects are the smallest ones whose tests pass once the work is done, by the name README.md gives the language.
var projects = map[string]struct {
	files map[string]string
	work  string // what takes the agent's place
}{
	"Python": {map[string]string{"sum.py": "def add(a, b):\n    return 0\n", "test_sum.py": "from sum import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"},
		"sed -i 's/return 0/return a + b/' sum.py"},
	"Go": {map[string]string{"go.mod": "module sum\n", "sum.go": "package sum\n\nfunc Add(a, b int) int { return 0 }\n",
		"sum_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fail()\n\t}\n}\n"},
		"sed -i 's/return 0/return a + b/' sum.go"},
	"Node": {map[string]string{"package.json": `{"scripts": {"test": "node test.js"}}`, "sum.js": "exports.add = (a, b) => 0\n",
		"test.js": "require('assert').equal(require('./sum').add(1, 2), 3)\n"}, "sed -i 's/=> 0/=> a + b/' sum.js"},
	"Rust": {map[string]string{"Cargo.toml": "[package]\nname = \"sum\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", ".gitignore": "target\nCargo.lock\n",
		"src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { let _ = (a, b); 0 }\n\n#[test]\nfn adds() { assert_eq!(add(1, 2), 3) }\n"},
		"sed -i 's/let _ = (a, b); 0/a + b/' src/lib.rs"},
	"Java": {map[string]string{"src/Main.java": "public class Main {\n  static int add(int a, int b) { return 0; }\n  public static void main(String[] x) { if (add(1, 2) != 3) System.exit(1); }\n}\n"},
		"sed -i 's/return 0/return a + b/' src/Main.java"},
}

// TestToolsOfReadme makes an image of every row of the table in README.md, with an agent on top, and runs a task with the
// row's check in it. But for the first row, only "make tools" does.
func TestToolsOfReadme(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, "debian:bookworm-slim")
	testenv.NeedsAll(t, "downloads compilers")
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (\\w+) \\| `(RUN [^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(string(readme), -1)
	if len(rows) != len(projects) {
		t.Fatalf("README.md has %d rows, and the test %d projects", len(rows), len(projects))
	}
	for _, row := range rows {
		name, install, check := row[1], row[2], row[3]
		p, ok := projects[name]
		if !ok {
			t.Errorf("the test has no project for %s", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "Python" && os.Getenv("SANDBOXRUN_TOOLS") == "" {
				t.Skip(`takes minutes of downloads: "make tools" tries every language`)
			}
			rig := newRig(t)
			rig.timeout = 10 * time.Minute
			dir, tag := t.TempDir(), "sandboxrun-test-"+strings.ToLower(rand.Text()[:10])
			if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte("FROM debian:bookworm-slim\n"+install+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = exec.CommandContext(context.WithoutCancel(t.Context()), "docker", "image", "rm", "-f", tag, "sandboxrun/base:"+tag).Run()
			})
			if o := rig.run(nil, "image", "build", "--base", filepath.Join(dir, "Dockerfile"), "--tag", tag, "pi"); o.exit != 0 {
				t.Fatalf("%s\n%.4000s", o.stdout, o.stderr)
			}
			res, _ := rig.execute(map[string]any{
				"objective": "make the tests pass", "context": map[string]any{"repo_root": newRepo(t, p.files).dir}, "execution_mode": "command",
				"suggested_commands": []string{"pi --version", p.work}, "baseline": true, "box": map[string]any{"image": tag},
				"acceptance_criteria": []any{map[string]any{"command": check}},
			})
			if res.Status != document.StatusSuccess || len(res.Acceptance) != 1 || !strings.Contains(res.Acceptance[0].Evidence, "on the base commit") {
				t.Errorf("%s: %s: %+v\n%+v", res.Status, res.Summary, res.Acceptance, res.CommandsRun)
			}
		})
	}
}
