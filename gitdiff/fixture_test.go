package gitdiff

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
)

// testBox is the owner of files in the boxes of tests: the runner's own where it has no privilege.
func testBox() owner {
	if os.Geteuid() == 0 {
		return owner{12345, 12346}
	}
	return owner{os.Getuid(), os.Getgid()}
}

func mustOpen(t testing.TB, r *gitdifftest.Repository) *Repo {
	t.Helper()
	repo, err := Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, repo)
	return repo
}

// closeLater closes c when the test has ended.
func closeLater(t testing.TB, c io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func mustResolve(t testing.TB, r *Repo, rev string) Commit {
	t.Helper()
	c, err := r.Resolve(context.Background(), rev)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mustObjects opens the repository's objects in a store of its own.
func mustObjects(t testing.TB, r *Repo) *Objects {
	t.Helper()
	return mustFor(t, NewStore(filepath.Join(t.TempDir(), "state")), r)
}

func mustFor(t testing.TB, s *Store, r *Repo) *Objects {
	t.Helper()
	o, err := s.For(r)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, o)
	return o
}

// mustWorkspace makes a workspace over the base, holding tree where one is given.
func mustWorkspace(t testing.TB, o *Objects, layout Layout, base Commit, tree string) *Workspace {
	t.Helper()
	own := testBox()
	w, err := o.Workspace(context.Background(), WorkspaceSpec{
		Dir: filepath.Join(t.TempDir(), "workspace"), Layout: layout, Base: base, Tree: tree, UID: own.uid, GID: own.gid,
	})
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, w)
	return w
}
