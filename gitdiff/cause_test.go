package gitdiff_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/land"
	"sandboxrun/gitdiff/workspace"
)

// TestWhoeverEndsTheWorkIsNamed ends the context of everything that reads or
// makes a tree with a cause of its own.
func TestWhoeverEndsTheWorkIsNamed(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "x\n", "d/b": "y\n"})
	head, root := b.Head(t), b.Box(t)
	gitdifftest.WriteFiles(t, root, map[string]string{"d/b": "z\n"})
	source := capture.Source{Root: root, Objects: b.Objects, BaseTree: plumbing.NewHash(head.Tree), Budget: capture.DefaultBudget()}
	s, err := capture.Capture(t.Context(), source)
	gitdifftest.Must(t, err)
	changed := s.Tree
	cause := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for name, do := range map[string]func() error{
		"resolve": func() error { _, err := b.Repo.Resolve(ctx, "HEAD~0^0~1"); return err },
		"workspace": func() error {
			_, err := workspace.New(ctx, b.Objects, workspace.Spec{Dir: filepath.Join(t.TempDir(), "w"), Layout: workspace.LayoutCopy, Base: head, UID: os.Getuid(), GID: os.Getgid()})
			return err
		},
		"overlay": func() error {
			_, err := workspace.New(ctx, b.Objects, workspace.Spec{Dir: filepath.Join(t.TempDir(), "w"), Layout: workspace.LayoutOverlay, Base: head, Tree: changed, UID: os.Getuid(), GID: os.Getgid()})
			return err
		},
		"capture": func() error { _, err := capture.Capture(ctx, source); return err },
		"compare": func() error { _, err := change.Compare(ctx, b.Objects, head.Tree, changed); return err },
		"land": func() error {
			_, err := land.Land(ctx, b.Repo, b.Objects, land.Landing{Branch: land.BranchPrefix + "t", Parent: head, Tree: changed, When: time.Unix(1, 0)})
			return err
		},
	} {
		if err := do(); !errors.Is(err, cause) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
