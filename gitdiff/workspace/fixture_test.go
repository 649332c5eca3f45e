package workspace

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// testBox is the owner of files in the boxes of tests: the runner's own where it has no privilege.
func testBox() owner {
	if os.Geteuid() == 0 {
		return owner{12345, 12346}
	}
	return owner{os.Getuid(), os.Getgid()}
}

// mustWorkspace makes a workspace over the base, holding tree where one is given.
func mustWorkspace(t testing.TB, o *gitdiff.Objects, layout Layout, base gitdiff.Commit, tree string) *Workspace {
	t.Helper()
	own := testBox()
	w, err := New(context.Background(), o, Spec{
		Dir: filepath.Join(t.TempDir(), "workspace"), Layout: layout, Base: base, Tree: tree, UID: own.uid, GID: own.gid,
	})
	if err != nil {
		t.Fatal(err)
	}
	workbench.CloseLater(t, w)
	return w
}

// diskFiles lists what a box has on disk, as git lists a tree.
func diskFiles(t testing.TB, root string) map[string]string {
	t.Helper()
	own := testBox()
	return gitdifftest.DiskFiles(t, root, own.uid, own.gid)
}
