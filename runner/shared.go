package runner

import (
	"context"
	"errors"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
)

var stepHome = step.Define("verify/home")

// shared is what the boxes of one measurement have below the layers of their
// own. No box can write to any of it.
type shared struct {
	tree  string               // what the boxes are to hold
	setup *workspace.Workspace // what set-up left; nil where there are no setup commands
	home  string               // host path of the archive of its home directory, "" where that is empty
	// change is tree over setup, made once for all boxes; nil where each of them
	// makes it: in plain copies, where it would be one copy more, and for one box.
	change *workspace.Workspace
}

// share makes what the boxes of a measurement have in common. What was made is
// to be removed also after an error.
func (x *run) share(ctx context.Context, role, tree string) (shared, error) {
	s := shared{tree: tree}
	var err error
	if len(x.plan.Setup) > 0 {
		if s.setup, s.home, err = x.setUp(ctx, role+".setup", role, tree); err != nil {
			return s, err
		}
	}
	if x.trees.Layout == workspace.LayoutOverlay && len(x.plan.Verify) > 1 {
		s.change, err = s.open(ctx, x, role+".change")
	}
	return s, err
}

// setUp runs the setup commands on a tree in a box of their own, with the
// allow-list open. It returns what they left in the tree, and the archive of what they left in the
// home directory, after the engine has confirmed that the box is gone. The tree
// is to be removed also after an error.
func (x *run) setUp(ctx context.Context, role, phase, tree string) (ws *workspace.Workspace, home string, err error) {
	if ws, err = x.trees.Open(ctx, role, x.under(), tree); err != nil {
		return nil, "", err
	}
	b, ws, err := x.boxOn(ctx, role, tree, ws, nil)
	if err != nil {
		return ws, "", err
	}
	name := ""
	if err = x.setup(ctx, b, phase); err == nil {
		name, err = b.PackHome(ctx)
	}
	if err := errors.Join(err, b.Discard(ctx)); err != nil {
		return ws, "", err
	}
	step.Before(stepHome)
	home, err = ws.TakeFile(name)
	step.After(stepHome)
	return ws, home, err
}

// open makes the tree of one box.
func (s *shared) open(ctx context.Context, x *run, role string) (*workspace.Workspace, error) {
	switch {
	case s.change != nil:
		return x.trees.OpenOver(ctx, role, s.change, "")
	case s.setup != nil:
		return x.trees.OpenOver(ctx, role, s.setup, s.tree)
	}
	return x.trees.Open(ctx, role, x.under(), s.tree)
}

// remove removes the trees, the one that lies over the other first. Where a box may still
// be there they stay: reap removes them when the engine answers again.
func (s *shared) remove(x *run) error {
	var err error
	for _, ws := range []*workspace.Workspace{s.change, s.setup} {
		if ws != nil && !x.boxes.Left() {
			err = errors.Join(err, x.trees.Close(ws))
		}
	}
	*s = shared{}
	return err
}
