package change

import (
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// capturedForDiff stores a directory as a tree.
func capturedForDiff(t testing.TB, b *workbench.Bench, root string) string {
	t.Helper()
	base := plumbing.NewHash(b.Head(t).Tree)
	s, err := capture.Capture(t.Context(), capture.Source{Root: root, Objects: b.Objects, BaseTree: base, Budget: capture.DefaultBudget()})
	gitdifftest.Must(t, err)
	return s.Tree
}

// diffTo compares the commit's tree with another.
func diffTo(t testing.TB, b *workbench.Bench, tree string) *Diff {
	t.Helper()
	d, err := Compare(t.Context(), b.Objects, b.Head(t).Tree, tree)
	gitdifftest.Must(t, err)
	return d
}
