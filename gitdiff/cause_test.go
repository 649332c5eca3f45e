package gitdiff

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// TestWhoeverEndsTheWorkIsNamed ends the context of everything that reads or
// makes a tree with a cause of its own.
func TestWhoeverEndsTheWorkIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "x\n", "d/b": "y\n"})
	head, root := b.head(t), b.box(t)
	writeFiles(t, root, map[string]string{"d/b": "z\n"})
	changed := b.capture(t, root).Tree
	cause := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	own := testBox()
	for name, do := range map[string]func() error{
		"resolve": func() error { _, err := b.repo.Resolve(ctx, "HEAD~0^0~1"); return err },
		"workspace": func() error {
			_, err := b.objects.Workspace(ctx, WorkspaceSpec{Dir: filepath.Join(t.TempDir(), "w"), Layout: LayoutCopy, Base: head, UID: own.uid, GID: own.gid})
			return err
		},
		"overlay": func() error {
			_, err := b.objects.Workspace(ctx, WorkspaceSpec{Dir: filepath.Join(t.TempDir(), "w"), Layout: LayoutOverlay, Base: head, Tree: changed, UID: own.uid, GID: own.gid})
			return err
		},
		"capture": func() error { _, err := capture(ctx, b.source(t, root)); return err },
		"compare": func() error { _, err := b.objects.Diff(ctx, head.Tree, changed); return err },
		"land":    func() error { _, err := b.repo.Land(ctx, b.objects, b.landing(t, "t", changed)); return err },
	} {
		if err := do(); !errors.Is(err, cause) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
