// Package workbench opens repositories for tests, each with a store.
package workbench

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
)

// Bench is a real repository, opened, with a store next to it.
type Bench struct {
	Dir     string
	Repo    *gitdiff.Repo
	Objects *gitdiff.Objects
}

// New makes a repository whose one commit holds files: path to content, or to "-> target" for a link.
func New(t testing.TB, files map[string]string) *Bench {
	t.Helper()
	b := &Bench{Dir: filepath.Join(t.TempDir(), "repo")}
	if err := os.Mkdir(b.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.Git(t, "init", "-q", "-b", "main")
	gitdifftest.WriteFiles(t, b.Dir, files)
	b.Git(t, "add", "-A", "-f")
	b.Git(t, "commit", "-q", "--allow-empty", "-m", "base")
	b.Open(t)
	return b
}

// Open opens the repository and a store of its own.
func (b *Bench) Open(t testing.TB) {
	t.Helper()
	var err error
	if b.Repo, err = gitdiff.Open(b.Dir); err != nil {
		t.Fatal(err)
	}
	CloseLater(t, b.Repo)
	if b.Objects, err = gitdiff.NewStore(t.TempDir()).For(b.Repo); err != nil {
		t.Fatal(err)
	}
	CloseLater(t, b.Objects)
}

// Git runs the real git in the repository.
func (b *Bench) Git(t testing.TB, args ...string) string {
	t.Helper()
	return gitdifftest.Git(t, b.Dir, nil, args...)
}

// Head is the repository's commit.
func (b *Bench) Head(t testing.TB) gitdiff.Commit {
	t.Helper()
	c, err := b.Repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Box makes a plain copy of the commit's files, as for a box.
func (b *Bench) Box(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	b.Git(t, "--work-tree="+dir, "checkout", "-q", "-f", "HEAD", "--", ".")
	return dir
}

// Open opens a repository until the test ends.
func Open(t testing.TB, r *gitdifftest.Repository) *gitdiff.Repo {
	t.Helper()
	repo, err := gitdiff.Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	CloseLater(t, repo)
	return repo
}

// CloseLater closes c at the end of the test.
func CloseLater(t testing.TB, c io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Resolve resolves a revision.
func Resolve(t testing.TB, r *gitdiff.Repo, rev string) gitdiff.Commit {
	t.Helper()
	c, err := r.Resolve(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Objects opens the repository's objects in a store of its own.
func Objects(t testing.TB, r *gitdiff.Repo) *gitdiff.Objects {
	t.Helper()
	return For(t, gitdiff.NewStore(filepath.Join(t.TempDir(), "state")), r)
}

// For opens the objects of a repository in a store until the test ends.
func For(t testing.TB, s *gitdiff.Store, r *gitdiff.Repo) *gitdiff.Objects {
	t.Helper()
	o, err := s.For(r)
	if err != nil {
		t.Fatal(err)
	}
	CloseLater(t, o)
	return o
}

// StoreObjects is the directory of the objects that only the store has.
func (b *Bench) StoreObjects() string {
	return filepath.Join(b.Objects.Store().Dir(), "stores", b.Objects.Key()+".git", "objects")
}

// LendObjects lets the real git read the objects of the store.
func (b *Bench) LendObjects(t testing.TB) {
	t.Helper()
	path := filepath.Join(b.Dir, ".git/objects/info/alternates")
	gitdifftest.Must(t, os.WriteFile(path, []byte(b.StoreObjects()+"\n"), 0o644))
}

// Applied applies a patch with the real git to an index that holds the tree from, or nothing where it is "", and
// returns the resulting tree.
func (b *Bench) Applied(t testing.TB, from string, patch func(io.Writer) error) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "diff.patch")
	f, err := os.Create(path)
	gitdifftest.Must(t, err)
	gitdifftest.Must(t, patch(f))
	info, err := f.Stat()
	gitdifftest.Must(t, errors.Join(err, f.Close()))
	work := filepath.Join(dir, "work")
	gitdifftest.Must(t, os.Mkdir(work, 0o755))
	env := []string{"GIT_DIR=" + filepath.Join(b.Dir, ".git"), "GIT_WORK_TREE=" + work, "GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if from != "" {
		gitdifftest.Git(t, work, env, "read-tree", from)
		gitdifftest.Git(t, work, env, "checkout-index", "-a", "-f", "-u")
	}
	if info.Size() > 0 {
		gitdifftest.Git(t, work, env, "apply", "--index", "--whitespace=nowarn", path)
	}
	return gitdifftest.Git(t, work, env, "write-tree")
}
