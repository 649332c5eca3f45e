package gitdiff_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
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
		o := workbench.Objects(t, workbench.Open(t, user))
		obj := o.Storer().NewEncodedObject()
		obj.SetType(plumbing.BlobObject)
		w, err := obj.Writer()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("new\n")); err != nil {
			t.Fatal(err)
		}
		fresh, err := o.Storer().SetEncodedObject(obj)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Storer().HasEncodedObject(fresh); err != nil {
			t.Errorf("%s: the new object: %v", name, err)
		}
		store := gitdifftest.At(t, filepath.Join(o.Store().Dir(), "stores", o.Key()+".git"))
		for _, want := range []string{id, fresh.String()} {
			store.Git("cat-file", "-e", want)
		}
		if diff := cmp.Diff(before, gitdifftest.Fingerprint(t, user.Dir)); diff != "" {
			t.Errorf("%s: the repository changed:\n%s", name, diff)
		}
	}
}

func TestSweepRemovesOldFilesNobodyFinishes(t *testing.T) {
	t.Parallel()
	s := gitdiff.NewStore(t.TempDir())
	long := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{".config123", "objects/pack/tmp_obj_1", "objects/info/.alternates7"} {
		for _, in := range []string{"old.git", "new.git"} {
			path := filepath.Join(s.Dir(), "stores", in, name)
			gitdifftest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)))
			if in == "old.git" {
				gitdifftest.Must(t, os.Chtimes(path, long, long))
			}
		}
	}
	gitdifftest.Must(t, s.Sweep())
	for in, want := range map[string]int{"old.git": 0, "new.git": 3} {
		left := 0
		gitdifftest.Must(t, filepath.WalkDir(filepath.Join(s.Dir(), "stores", in), func(_ string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				left++
			}
			return err
		}))
		gitdifftest.Equal(t, in, left, want)
	}
}

func TestReadingSizesLeavesNoFileOpen(t *testing.T) { //nolint:paralleltest // it counts the open files of this process
	r := gitdifftest.New(t)
	r.Write("file", "loose\n")
	r.Commit("base")
	o := workbench.Objects(t, workbench.Open(t, r))
	own, err := o.Blobs().Write(strings.NewReader("own\n"), 4, plumbing.ZeroHash)
	gitdifftest.Must(t, err)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would close them
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		gitdifftest.Must(t, err)
		return len(entries)
	}
	before := open()
	for range 50 {
		for id, want := range map[plumbing.Hash]int64{own: 4, plumbing.NewHash(gitdifftest.BlobID([]byte("loose\n"))): 6} {
			if size, err := o.Storer().EncodedObjectSize(id); err != nil || size != want {
				t.Fatalf("size of %s: %d, %v", id, size, err)
			}
		}
	}
	if after := open(); after > before+2 {
		t.Errorf("%d files were open, then %d", before, after)
	}
}
