package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/gitobj"
)

func TestBaseIsMadeOnceForAllThatWantIt(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Generated(t, 300)
	state := gitdiff.NewStore(filepath.Join(t.TempDir(), "state"))
	var wg sync.WaitGroup
	private := make([]string, 6)
	inodes := make([]os.FileInfo, len(private))
	for i := range private {
		repo := workbench.Open(t, r) // each as another process would
		o := workbench.For(t, state, repo)
		c := workbench.Resolve(t, repo, "HEAD")
		wg.Go(func() {
			b, err := openBase(context.Background(), o, c, testBox())
			if err != nil {
				t.Error(err)
				return
			}
			private[i] = b.Private
			if inodes[i], err = os.Stat(b.treeDir()); err != nil {
				t.Error(err)
			}
			if err := b.release(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range private {
		if private[i] == "" || private[i] != private[0] || !os.SameFile(inodes[i], inodes[0]) {
			t.Fatalf("runner %d got another base: %v", i, private)
		}
	}
}

func TestBaseFilesAreOldEnoughForAnyIndex(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 12, 0, 0, 5, time.UTC)
	for _, c := range []struct{ commit, want time.Time }{
		{time.Date(2020, 5, 5, 5, 5, 5, 0, time.UTC), time.Date(2020, 5, 5, 5, 5, 5, 0, time.UTC)},
		{now, time.Date(2030, 1, 1, 11, 0, 0, 0, time.UTC)},
		{time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2030, 1, 1, 11, 0, 0, 0, time.UTC)},
		{time.Unix(-5, 0), earliest},
	} {
		if got := baseTime(c.commit, now); !got.Equal(c.want) {
			t.Errorf("%v: got %v, want %v", c.commit, got, c.want)
		}
	}
}

func TestBaseRefusesATreeThatReachesOutOfItsDirectory(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	blob := "100644 blob " + r.Blob("evil\n") + "\t"
	link := "120000 blob " + r.Blob("/tmp") + "\t"
	dir := "040000 tree " + r.Tree(blob+"x") + "\t"
	// git mktree checks names no further than their separators.
	for name, lines := range map[string][]string{
		".git":       {dir + ".git"},
		".GIT":       {dir + ".GIT"},
		"git~1":      {blob + "git~1"},
		".g\u200cit": {dir + ".g\u200cit"},
		"..":         {dir + ".."},
		"twice":      {link + "twice", dir + "twice"},
	} {
		r.CommitTree(r.Tree("040000 tree " + r.Tree(lines...) + "\tsub"))
		repo := workbench.Open(t, r)
		o := workbench.Objects(t, repo)
		own := testBox()
		_, err := New(context.Background(), o, Spec{Dir: filepath.Join(t.TempDir(), "w"), Layout: LayoutOverlay,
			Base: workbench.Resolve(t, repo, "HEAD"), UID: own.uid, GID: own.gid})
		var bad *gitobj.TreeError
		if !errors.As(err, &bad) || bad.Path != "sub/"+name {
			t.Errorf("%s: got %v", name, err)
		}
		left, globErr := filepath.Glob(filepath.Join(o.Store().Dir(), "bases", "*", "*"))
		if globErr != nil || len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
			t.Errorf("%s: left behind: %v, %v", name, left, globErr)
		}
	}
}

func TestBaseStreamsLargeFiles(t *testing.T) {
	t.Parallel()
	r := gitdifftest.New(t)
	large := strings.Repeat("0123456789abcdef\n", 3*gitobj.StreamedBytes/17)
	r.Write("large", large)
	r.Write("copy", large)
	r.Commit("one")
	r.Write("large", large+"changed\n")
	r.Commit("two")
	for _, packed := range []bool{false, true} {
		if packed {
			r.Git("gc", "--quiet")
		}
		repo := workbench.Open(t, r)
		c := workbench.Resolve(t, repo, "HEAD")
		w := mustWorkspace(t, workbench.Objects(t, repo), LayoutOverlay, c, "")
		if diff := cmp.Diff(gitdifftest.TreeFiles(t, r, c.Tree), diskFiles(t, w.base.treeDir())); diff != "" {
			t.Errorf("packed %v:\n%s", packed, diff)
		}
		checkPack(t, w.base)
	}
}

// checkPack has git check the base's pack as a repository of its own.
func checkPack(t *testing.T, b *base) {
	t.Helper()
	check := gitdifftest.Init(t, filepath.Join(t.TempDir(), "check"), "--bare")
	if err := os.WriteFile(filepath.Join(check.Dir, "objects/info/alternates"), []byte(b.objectsDir()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	check.Git("update-ref", "refs/heads/main", b.Private)
	check.Git("fsck", "--strict", "--full")
	packs, err := filepath.Glob(filepath.Join(b.objectsDir(), "pack", "*.idx"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	check.Git("verify-pack", packs[0])
}

func TestCorruptObjectIsNotCheckedOut(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	good, bad := r.Git("rev-parse", "HEAD:README.md"), r.Blob("something else\n")
	object := func(id string) string { return filepath.Join(r.Dir, ".git/objects", id[:2], id[2:]) }
	if err := os.Rename(object(bad), object(good)); err != nil {
		t.Fatal(err)
	}
	repo := workbench.Open(t, r)
	_, err := openBase(context.Background(), workbench.Objects(t, repo), workbench.Resolve(t, repo, "HEAD"), testBox())
	if err == nil || !strings.Contains(err.Error(), good) {
		t.Errorf("got %v", err)
	}
}

func TestMissingObjectIsNamed(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	id := r.Git("rev-parse", "HEAD:src/main.go")
	if err := os.Remove(filepath.Join(r.Dir, ".git/objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	repo := workbench.Open(t, r)
	var missing *gitobj.MissingError
	_, err := openBase(context.Background(), workbench.Objects(t, repo), workbench.Resolve(t, repo, "HEAD"), testBox())
	if !errors.As(err, &missing) || missing.ID != id {
		t.Errorf("got %v", err)
	}
}

func TestBaseOutlivesGarbageCollectionWhileOpen(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	r.Git("gc", "--quiet")
	repo := workbench.Open(t, r)
	c := workbench.Resolve(t, repo, "HEAD") // opens the pack
	r.Write("more", "more\n")
	r.Commit("more")
	r.Git("repack", "-a", "-d", "-f", "--quiet") // the pack that was open is gone
	w := mustWorkspace(t, workbench.Objects(t, repo), LayoutCopy, c, "")
	if diff := cmp.Diff(gitdifftest.TreeFiles(t, r, c.Tree), diskFiles(t, w.root)); diff != "" {
		t.Error(diff)
	}
}

func TestCancelledBaseLeavesNothing(t *testing.T) {
	t.Parallel()
	repo := workbench.Open(t, gitdifftest.Generated(t, 200))
	o := workbench.Objects(t, repo)
	c := workbench.Resolve(t, repo, "HEAD")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := openBase(ctx, o, c, testBox()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	dirs, err := filepath.Glob(filepath.Join(o.Store().Dir(), "bases", "*", c.ID+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if !strings.HasSuffix(dir, ".lock") {
			t.Errorf("left behind: %s", dir)
		}
	}
	mustWorkspace(t, o, LayoutOverlay, c, "")
}
