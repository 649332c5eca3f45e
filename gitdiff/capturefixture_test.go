package gitdiff

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

// bench is a real repository, opened, with a store beside it.
type bench struct {
	dir     string
	repo    *Repo
	objects *Objects
}

// newBench makes a repository whose one commit holds files: path to content, or to "-> target" for a link.
func newBench(t testing.TB, files map[string]string) *bench {
	t.Helper()
	b := &bench{dir: filepath.Join(t.TempDir(), "repo")}
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.git(t, "init", "-q", "-b", "main")
	writeFiles(t, b.dir, files)
	b.git(t, "add", "-A", "-f")
	b.git(t, "commit", "-q", "--allow-empty", "-m", "base")
	b.open(t)
	return b
}

func (b *bench) open(t testing.TB) {
	t.Helper()
	var err error
	if b.repo, err = Open(b.dir); err != nil {
		t.Fatal(err)
	}
	closeLater(t, b.repo)
	if b.objects, err = NewStore(t.TempDir()).For(b.repo); err != nil {
		t.Fatal(err)
	}
	closeLater(t, b.objects)
}

// git runs the real git in the repository.
func (b *bench) git(t testing.TB, args ...string) string {
	t.Helper()
	return realGit(t, b.dir, nil, args...)
}

func realGit(t testing.TB, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@localhost",
	}, env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// writeFiles makes files below dir.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, link := strings.CutPrefix(text, "-> "); err == nil && link {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// head is the repository's commit.
func (b *bench) head(t testing.TB) Commit {
	t.Helper()
	c, err := b.repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// box is a plain copy of the commit's files, as a box would get it.
func (b *bench) box(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	b.git(t, "--work-tree="+dir, "checkout", "-q", "-f", "HEAD", "--", ".")
	return dir
}

func (b *bench) source(t testing.TB, root string) captureSource {
	t.Helper()
	base := plumbing.NewHash(b.head(t).Tree)
	return captureSource{root: root, storer: b.objects.storer(), baseTree: base, lower: base, budget: DefaultBudget()}
}

// capture captures a plain directory.
func (b *bench) capture(t testing.TB, root string) *Snapshot {
	t.Helper()
	s, err := capture(t.Context(), b.source(t, root))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// diff compares the commit's tree with another.
func (b *bench) diff(t testing.TB, tree string) *Diff {
	t.Helper()
	d, err := b.objects.Diff(t.Context(), b.head(t).Tree, tree)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// changed captures a directory and says what changed, as "type path" lines.
func (b *bench) changed(t testing.TB, root string) (*Snapshot, []string) {
	t.Helper()
	s := b.capture(t, root)
	var lines []string
	for _, c := range b.diff(t, s.Tree).Changes {
		lines = append(lines, string(c.Type)+" "+c.Name)
	}
	return s, lines
}

// found are the findings of a snapshot as "code path" lines.
func found(s *Snapshot) []string {
	var lines []string
	for _, f := range s.Findings {
		lines = append(lines, string(f.Code)+" "+f.Path)
	}
	return lines
}

func wantEqual(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// land brings a tree into the repository.
func (b *bench) land(ctx context.Context, t testing.TB, id, tree string) string {
	t.Helper()
	commit, err := b.repo.Land(ctx, b.objects, b.landing(t, id, tree))
	if err != nil {
		t.Fatal(err)
	}
	return commit
}
