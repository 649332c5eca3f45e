package workspace

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// mustOver makes a workspace over another one, holding tree where one is given.
func mustOver(t *testing.T, below *Workspace, tree string) *Workspace {
	t.Helper()
	w, err := over(t.Context(), t, below, tree)
	if err != nil {
		t.Fatal(err)
	}
	workbench.CloseLater(t, w)
	return w
}

func over(ctx context.Context, t *testing.T, below *Workspace, tree string) (*Workspace, error) {
	t.Helper()
	own := testBox()
	return New(ctx, below.objects, Spec{
		Dir: filepath.Join(t.TempDir(), "workspace"), Layout: below.layout, Tree: tree, UID: own.uid, GID: own.gid, Over: below,
	})
}

// setUp is what a set-up leaves: new files of every kind, at places that the change takes for itself as well.
const setUp = `mkdir -p built/deep closed && echo product > built/deep/x && ln -s /etc built/etc && cp built/deep/x built/same && chmod 755 built/deep/x
echo secret > closed/f && chmod 400 closed/f && chmod 500 closed
mkfifo built/fifo; echo touched > kept/d; git config set.up yes
mkdir fresh && echo mine > fresh/mine`

func TestAWorkspaceOverAnotherShowsItsFilesBelowTheChange(t *testing.T) { //nolint:tparallel // the next one is mounted after it
	t.Parallel()
	r, base, tree := changedSample(t)
	o := workbench.Objects(t, workbench.Open(t, r))
	seen := map[Layout]map[string]string{}
	for _, layout := range layouts {
		below := mustWorkspace(t, o, layout, base, "")
		t.Run("set up "+string(layout), func(t *testing.T) { mountBox(t, below).must("sh", "-c", setUp) }) // unmounted at its end
		before := diskFiles(t, below.root)
		change := mustOver(t, below, tree)
		var boxes []*Workspace
		for range 2 {
			boxes = append(boxes, mustOver(t, change, ""))
		}
		t.Run("first "+string(layout), func(t *testing.T) {
			box := mountBox(t, boxes[0])
			box.must("sh", "-c", "test \"$(git config set.up)\" = yes && test $(stat -c %a closed) = 500 && test ! -e built/fifo -o -p built/fifo")
			box.must("sh", "-c", "rm -rf built kept; echo forged > other/a; git config set.up no; rm -f .git/HEAD; chmod 700 closed; echo forged > fresh/mine")
		})
		t.Run("second "+string(layout), func(t *testing.T) {
			box := mountBox(t, boxes[1])
			box.must("sh", "-c", "test \"$(git config set.up)\" = yes && test $(stat -c %a closed) = 500 && test -x built/deep/x")
			box.must("rm", "-f", "built/fifo") // left out of copies
			seen[layout] = diskFiles(t, box.workspace())
		})
		if diff := cmp.Diff(before, diskFiles(t, below.root)); diff != "" {
			t.Errorf("%s: a box changed what lies below it:\n%s", layout, diff)
		}
		if _, err := boxes[0].Snapshot(t.Context(), capture.DefaultBudget()); err == nil {
			t.Errorf("%s: a workspace over another one was captured", layout)
		}
	}
	want := maps.Clone(gitdifftest.TreeFiles(t, r, tree))
	delete(want, "fresh") // a directory of a submodule, which is not empty here
	for _, name := range []string{"built/deep/x", "built/etc", "built/same", "closed/f", "kept/d", "fresh/mine"} {
		if want[name] = seen[LayoutCopy][name]; want[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	for layout, got := range seen {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: files differ (-want +workspace):\n%s", layout, diff)
		}
	}
}

func TestCopyingWhatABoxLeftEndsAtItsBounds(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	r.Commit("base")
	repo := workbench.Open(t, r)
	below := mustWorkspace(t, workbench.Objects(t, repo), LayoutCopy, workbench.Resolve(t, repo, "HEAD"), "")
	below.spec.Growth = Growth{Bytes: 1 << 20, Files: 100}
	huge, err := os.Create(filepath.Join(below.root, "huge"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(huge.Truncate(1<<43), huge.Close()); err != nil {
		t.Fatal(err)
	}
	var budget *gitdiff.BudgetError
	if _, err := over(t.Context(), t, below, ""); !errors.As(err, &budget) || budget.Code != gitdiff.TotalTooLarge {
		t.Errorf("a sparse file: %v", err)
	}
	if err := os.Remove(filepath.Join(below.root, "huge")); err != nil {
		t.Fatal(err)
	}
	deep, err := openPlain(unix.AT_FDCWD, below.root)
	if err != nil {
		t.Fatal(err)
	}
	for range fillDepth + 2 {
		if err := unix.Mkdirat(int(deep.Fd()), "d", 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := openPlain(int(deep.Fd()), "d")
		if err := errors.Join(err, deep.Close()); err != nil {
			t.Fatal(err)
		}
		deep = next
	}
	if err := deep.Close(); err != nil {
		t.Fatal(err)
	}
	below.spec.Growth.Files = 100_000
	if _, err := over(t.Context(), t, below, ""); !errors.As(err, &budget) || budget.Code != gitdiff.TooManyFiles {
		t.Errorf("a deep tree: %v", err)
	}
	below.spec.Growth.Files = 10
	if _, err := over(t.Context(), t, below, ""); !errors.As(err, &budget) || budget.Code != gitdiff.TooManyFiles {
		t.Errorf("many files: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := over(ctx, t, below, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

func TestAWorkspaceSaysWhichContentItsBoxMade(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	r.Commit("base")
	repo := workbench.Open(t, r)
	w := mustWorkspace(t, workbench.Objects(t, repo), LayoutOverlay, workbench.Resolve(t, repo, "HEAD"), "")
	id := r.Blob("locked\n")
	outside := filepath.Join(t.TempDir(), "outside")
	gitdifftest.Must(t, errors.Join(os.WriteFile(outside, []byte("locked\n"), 0o600), os.MkdirAll(filepath.Join(w.root, "sub"), 0o755),
		os.WriteFile(filepath.Join(w.root, "sub", "lock"), []byte("locked\n"), 0o600), os.WriteFile(filepath.Join(w.root, "other"), []byte("other\n"), 0o600),
		os.Symlink(outside, filepath.Join(w.root, "link")), os.Symlink(filepath.Dir(outside), filepath.Join(w.root, "dir")), unix.Mkfifo(filepath.Join(w.root, "fifo"), 0o600)))
	for path, want := range map[string]bool{"sub/lock": true, "other": false, "link": false, "dir/outside": false, "fifo": false, "sub": false, "none": false, "../upper/sub/lock": false} {
		if got, err := w.Holds(t.Context(), path, id); got != want || err != nil {
			t.Errorf("%s: %t, %v", path, got, err)
		}
	}
}

func TestOnlyARegularFileIsTakenOutOfATree(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	r.Commit("base")
	repo := workbench.Open(t, r)
	w := mustWorkspace(t, workbench.Objects(t, repo), LayoutCopy, workbench.Resolve(t, repo, "HEAD"), "")
	gitdifftest.Must(t, errors.Join(os.Symlink("/etc/passwd", filepath.Join(w.root, "passwd")), os.Mkdir(filepath.Join(w.root, "dir"), 0o755),
		os.WriteFile(filepath.Join(w.root, "file"), []byte("taken"), 0o600)))
	for _, name := range []string{"passwd", "dir", "../tree/file", ".."} {
		if path, err := w.TakeFile(name); err == nil {
			t.Errorf("%s was taken to %q", name, path)
		}
	}
	if path, err := w.TakeFile("none"); path != "" || err != nil {
		t.Errorf("a missing file: %q, %v", path, err)
	}
	path, err := w.TakeFile("file")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "taken" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(w.root, "file")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still in the tree: %v", err)
	}
}
