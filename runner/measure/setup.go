package measure

import (
	"context"
	"errors"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
)

var stepHome = step.Define("verify/home")

// Setup is what the setup commands left for the boxes after them; empty where there are no setup commands. No box can
// write to it.
type Setup struct {
	Tree *workspace.Workspace
	home string // host path of the archive of the home directory, "" where that is empty
}

// Prepare runs the setup commands on a tree in a box of their own, with an allow-list open, and returns what they left after the
// engine has confirmed that the box is gone. That is to be removed also after an error.
func (b *Bench) Prepare(ctx context.Context, role, tree string, allow []string) (left Setup, err error) {
	if b.SetUp == nil {
		return left, nil
	}
	if left.Tree, err = b.Trees.Open(ctx, role, b.Under, tree); err != nil {
		return left, err
	}
	bx, err := b.Boxes.Open(ctx, role, left.Tree.Mount(), nil)
	if err != nil {
		return left, err
	}
	name := ""
	if err = b.SetUp(ctx, bx, allow); err == nil {
		name, err = bx.PackHome(ctx)
	}
	if err := errors.Join(err, bx.Discard(ctx)); err != nil {
		return left, err
	}
	step.Before(stepHome)
	left.home, err = left.Tree.TakeFile(name)
	step.After(stepHome)
	return left, err
}

// Remove removes what set-up left.
func (b *Bench) Remove(s Setup) error { return b.CloseTree(s.Tree) }

// shared is what the boxes of one measurement have below the layers of their own. No box can write to any of it.
type shared struct {
	tree  string // what the boxes are to hold
	setup Setup
	// change is tree over what set-up left, made once for all boxes; nil where each of them makes it: in plain copies, where it
	// would be one copy more, and for one box.
	change *workspace.Workspace
}

// prepare makes what all boxes can share. It is to be removed also after an error.
func (s *shared) prepare(ctx context.Context, m *measurement) (err error) {
	if m.Trees.Layout == workspace.LayoutOverlay && len(m.commands) > 1 {
		s.change, err = s.open(ctx, m.Bench, m.role+".change")
	}
	return err
}

// open makes the tree of one box.
func (s *shared) open(ctx context.Context, b *Bench, role string) (*workspace.Workspace, error) {
	switch {
	case s.change != nil:
		return b.Trees.OpenOver(ctx, role, s.change, "")
	case s.setup.Tree != nil:
		return b.Trees.OpenOver(ctx, role, s.setup.Tree, s.tree)
	}
	return b.Trees.Open(ctx, role, b.Under, s.tree)
}

// remove removes what prepare made.
func (s *shared) remove(b *Bench) error { return b.CloseTree(s.change) }
