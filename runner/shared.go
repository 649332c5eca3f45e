package runner

import (
	"context"
	"errors"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
)

var stepHome = step.Define("verify/home")

// setupLeft is what the setup commands left for the boxes after them; empty where
// there are no setup commands. No box can write to it.
type setupLeft struct {
	tree *workspace.Workspace
	home string // host path of the archive of the home directory, "" where that is empty
}

// setUp runs the setup commands on a tree in a box of their own, with the
// allow-list open, and returns what they left after the engine has confirmed
// that the box is gone. That is to be removed also after an error.
func (x *run) setUp(ctx context.Context, role, tree string) (left setupLeft, err error) {
	if len(x.plan.Setup) == 0 {
		return left, nil
	}
	if left.tree, err = x.trees.Open(ctx, role, x.under(), tree); err != nil {
		return left, err
	}
	b, ws, err := x.boxOn(ctx, role, tree, left.tree, nil)
	left.tree = ws
	if err != nil {
		return left, err
	}
	name := ""
	if err = x.setup(ctx, b, "verify"); err == nil {
		name, err = b.PackHome(ctx)
	}
	if err := errors.Join(err, b.Discard(ctx)); err != nil {
		return left, err
	}
	step.Before(stepHome)
	left.home, err = ws.TakeFile(name)
	step.After(stepHome)
	return left, err
}

func (s setupLeft) remove(x *run) error { return x.closeTree(s.tree) }

// closeTree removes a tree, which may be nil. Where a box may still be there, it
// stays: reap removes it when the engine answers again.
func (x *run) closeTree(ws *workspace.Workspace) error {
	if ws == nil || x.boxes.Left() {
		return nil
	}
	return x.trees.Close(ws)
}

// shared is what the boxes of one measurement have below the layers of their
// own. No box can write to any of it.
type shared struct {
	tree  string // what the boxes are to hold
	setup setupLeft
	// change is tree over what set-up left, made once for all boxes; nil where
	// each of them makes it: in plain copies, where it would be one copy more, and
	// for one box.
	change *workspace.Workspace
}

// prepare makes what all boxes can share. It is to be removed also after an error.
func (s *shared) prepare(ctx context.Context, x *run, role string) (err error) {
	if x.trees.Layout == workspace.LayoutOverlay && len(x.plan.Verify) > 1 {
		s.change, err = s.open(ctx, x, role+".change")
	}
	return err
}

// open makes the tree of one box.
func (s *shared) open(ctx context.Context, x *run, role string) (*workspace.Workspace, error) {
	switch {
	case s.change != nil:
		return x.trees.OpenOver(ctx, role, s.change, "")
	case s.setup.tree != nil:
		return x.trees.OpenOver(ctx, role, s.setup.tree, s.tree)
	}
	return x.trees.Open(ctx, role, x.under(), s.tree)
}

// remove removes what prepare made.
func (s *shared) remove(x *run) error { return x.closeTree(s.change) }
