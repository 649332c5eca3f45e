package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/cmd/sandboxrun/attack"
)

// repo is a real repository of the test's own.
type repo struct {
	t   *testing.T
	dir string
}

// sample is a small project whose test fails until sum.sh is fixed.
var sample = map[string]string{
	"README.md":  "# sample\n\nAdds numbers.\n",
	"sum.sh":     "#!/bin/sh\n# prints the sum of two numbers\necho $(($1 - $2))\n",
	"test.sh":    "#!/bin/sh\n[ \"$(sh sum.sh 2 3)\" = 5 ]\n",
	"old.txt":    "to be deleted\n",
	".gitignore": "ignored/\n",
}

func newRepo(t *testing.T, files map[string]string) *repo {
	t.Helper()
	r := &repo{t: t, dir: filepath.Join(t.TempDir(), "repo")}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	r.write(files)
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "base")
	return r
}

func (r *repo) write(files map[string]string) {
	r.t.Helper()
	for name, body := range files {
		p := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(body), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	return gitIn(r.t, r.dir, args...)
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "protocol.file.allow=always"}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@localhost", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@localhost")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// task is a command-mode task on the repository.
func (r *repo) task(commands ...string) map[string]any {
	return map[string]any{
		"objective": "Do what the test says.", "context": map[string]any{"repo_root": r.dir},
		"execution_mode": "command", "suggested_commands": commands, "max_runtime_seconds": 120,
	}
}

// fingerprint covers everything of a repository that no landing may change.
func fingerprint(t *testing.T, dir string) map[string]string {
	t.Helper()
	prints, err := attack.Fingerprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	return prints
}
