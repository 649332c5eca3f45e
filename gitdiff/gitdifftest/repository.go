// Package gitdifftest makes git repositories for tests, with the git command, and checks that nothing changed them.
package gitdifftest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repository is a git repository made for one test.
type Repository struct {
	Dir string // work tree, or the repository itself when it is bare
	t   testing.TB
}

// New makes an ordinary repository without a commit, on branch main, with settings that make its ids reproducible.
func New(t testing.TB) *Repository {
	t.Helper()
	return Init(t, filepath.Join(t.TempDir(), "repo"))
}

// Init makes a repository in dir with further arguments for git init, such as --bare or --object-format=sha256.
func Init(t testing.TB, dir string, args ...string) *Repository {
	t.Helper()
	r := &Repository{Dir: dir, t: t}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.Git(append([]string{"init", "--quiet", "--initial-branch=main"}, args...)...)
	return r
}

// At wraps an existing repository in dir.
func At(t testing.TB, dir string) *Repository { //nolint:thelper // nothing fails here
	return &Repository{Dir: dir, t: t}
}

// Git runs git in the repository and returns its output, without the last newline. A failure ends the test.
func (r *Repository) Git(args ...string) string {
	r.t.Helper()
	return r.run("", args...)
}

func (r *Repository) run(input string, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.Dir
	cmd.Env = Env()
	cmd.Stdin = strings.NewReader(input)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Env is an environment in which git finds no configuration of this machine and gives all objects the same time.
func Env() []string {
	return append(os.Environ(), "HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*")
}

// Write writes a file of the work tree, making its directories.
func (r *Repository) Write(path, content string) {
	r.t.Helper()
	full := filepath.Join(r.Dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// Link makes a symbolic link in the work tree.
func (r *Repository) Link(path, target string) {
	r.t.Helper()
	full := filepath.Join(r.Dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Symlink(target, full); err != nil {
		r.t.Fatal(err)
	}
}

// Commit commits everything in the work tree and returns the commit's id.
func (r *Repository) Commit(message string) string {
	r.t.Helper()
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message="+message)
	return r.Git("rev-parse", "HEAD")
}

// Tree makes a tree object from lines in the format of git ls-tree ("mode type id<tab>name") and returns its id. Names
// and modes are not checked, so that it can make trees that git add would refuse.
func (r *Repository) Tree(lines ...string) string {
	r.t.Helper()
	return r.run(strings.Join(lines, "\n")+"\n", "mktree")
}

// Blob stores content as an object and returns its id.
func (r *Repository) Blob(content string) string {
	r.t.Helper()
	return r.run(content, "hash-object", "-w", "--stdin")
}

// CommitTree commits a tree object to the branch main and returns the commit's id.
func (r *Repository) CommitTree(tree string) string {
	r.t.Helper()
	id := r.Git("commit-tree", "-m", "made", tree)
	r.Git("update-ref", "refs/heads/main", id)
	return id
}
