package land

import (
	"context"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// landing is a landing of a tree on the head of the repository.
func landing(t testing.TB, b *workbench.Bench, id, tree string) Landing {
	t.Helper()
	branch, err := BranchName(id)
	if err != nil {
		t.Fatal(err)
	}
	return Landing{Branch: branch, Parent: b.Head(t), Tree: tree, Message: "say hello\n\nbody", When: landingTime()}
}

func landingTime() time.Time { return time.Unix(1_700_000_000, 0).UTC() }

// capturedForLand stores a directory as a tree.
func capturedForLand(t testing.TB, b *workbench.Bench, root string) string {
	t.Helper()
	base := plumbing.NewHash(b.Head(t).Tree)
	s, err := capture.Capture(t.Context(), capture.Source{Root: root, Objects: b.Objects, BaseTree: base, Budget: capture.DefaultBudget()})
	gitdifftest.Must(t, err)
	return s.Tree
}

// mustLand brings a tree into the repository.
func mustLand(ctx context.Context, t testing.TB, b *workbench.Bench, id, tree string) string {
	t.Helper()
	commit, err := Land(ctx, b.Repo, b.Objects, landing(t, b, id, tree))
	gitdifftest.Must(t, err)
	return commit
}
