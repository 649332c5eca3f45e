package gitdiff

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff/gitdifftest"
)

func TestStoreBorrowsFromAnyPathAndKeepsNewObjects(t *testing.T) {
	t.Parallel()
	odd := gitdifftest.Init(t, filepath.Join(t.TempDir(), "odd \"path\"\nwith \\ things"))
	odd.Write("file", "odd\n")
	id := odd.Commit("odd")
	plain := gitdifftest.New(t)
	plain.Write("file", "odd\n")
	if plain.Commit("odd") != id {
		t.Fatal("the fixtures differ")
	}
	for name, user := range map[string]*gitdifftest.Repository{"odd": odd, "borrowing": plain.Borrowing().Borrowing()} {
		before := gitdifftest.Fingerprint(t, user.Dir)
		o := mustObjects(t, mustOpen(t, user))
		obj := o.storer().NewEncodedObject()
		obj.SetType(plumbing.BlobObject)
		w, err := obj.Writer()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("new\n")); err != nil {
			t.Fatal(err)
		}
		fresh, err := o.storer().SetEncodedObject(obj)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.storer().HasEncodedObject(fresh); err != nil {
			t.Errorf("%s: the new object: %v", name, err)
		}
		store := gitdifftest.At(t, o.dir)
		for _, want := range []string{id, fresh.String()} {
			store.Git("cat-file", "-e", want)
		}
		if diff := cmp.Diff(before, gitdifftest.Fingerprint(t, user.Dir)); diff != "" {
			t.Errorf("%s: the repository changed:\n%s", name, diff)
		}
	}
}

func TestStoreIsForTheRunnerAlone(t *testing.T) {
	t.Parallel()
	repo := mustOpen(t, gitdifftest.Sample(t))
	o := mustObjects(t, repo)
	mustWorkspace(t, o, LayoutOverlay, mustResolve(t, repo, "HEAD"), "")
	for _, dir := range []string{o.store.dir, o.dir, filepath.Join(o.store.dir, "bases", o.key)} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
}

func TestOverlayRefusesAPathItsOptionsCannotName(t *testing.T) {
	t.Parallel()
	repo := mustOpen(t, gitdifftest.Sample(t))
	own := testBox()
	spec := WorkspaceSpec{Dir: filepath.Join(t.TempDir(), "a:b"), Layout: LayoutOverlay, Base: mustResolve(t, repo, "HEAD"), UID: own.uid, GID: own.gid}
	if _, err := mustObjects(t, repo).Workspace(context.Background(), spec); err == nil || !strings.Contains(err.Error(), "colon") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(spec.Dir); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}
