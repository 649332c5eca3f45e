package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/step"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// Pristine bases that nobody used for long, or that take more room than this,
// are removed; making one again costs one checkout.
const (
	baseMaxAge   = 30 * 24 * time.Hour
	baseMaxBytes = 20 << 30
)

// checkout makes the throwaway tree of the working box.
func (x *run) checkout(ctx context.Context) error {
	if err := x.checkFloor(); err != nil {
		return err
	}
	store := gitdiff.NewStore(x.r.o.State.TreesDir())
	done := step.Begin(ctx, stepStore, x.r.o.State.TreesDir())
	objects, err := store.For(x.repo)
	done(err)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	x.objects = objects
	err = step.Do(ctx, stepDirt, "", func() error { return x.startDirt(ctx) })
	if err != nil {
		return err
	}
	x.tellBase()
	if x.tree, err = x.openTree(ctx, "agent", x.base.Tree); err != nil {
		return err
	}
	if x.session != nil {
		x.session.begun = true
	}
	if _, err := store.Evict(ctx, baseMaxAge, baseMaxBytes); err != nil {
		x.log.emit("", EventSystemMessage, map[string]any{"text": "old bases could not be removed: " + err.Error()})
	}
	return nil
}

// openTree makes a tree for a box.
func (x *run) openTree(ctx context.Context, role, tree string) (*gitdiff.Workspace, error) {
	ws, err := x.objects.Workspace(ctx, gitdiff.WorkspaceSpec{
		Dir: x.r.o.State.TreeDir(x.id, role), Layout: x.layout, Base: x.underlay(), Tree: tree, UID: x.treeUser.UID, GID: x.treeUser.GID,
		Growth: x.treeGrowth(),
	})
	if err != nil {
		return nil, fmt.Errorf("make %s tree: %w", role, err)
	}
	return ws, nil
}

// open starts the working box.
func (x *run) open(ctx context.Context) error {
	routes, err := x.routes()
	if err != nil {
		return err
	}
	b, tree, err := x.boxOn(ctx, "agent", x.base.Tree, x.tree, routes)
	x.tree = tree
	if err != nil {
		return err
	}
	x.box = b
	if d, ok := b.Sandbox.(sandbox.Details); ok {
		x.made = d.Details()
	}
	return nil
}

// boxOn starts a box on a tree. Where the engine cannot mount the overlay, the
// tree is made again as plain files, and so are all later ones of this run. It
// returns the workspace that is in use afterwards, also with an error.
func (x *run) boxOn(ctx context.Context, role, tree string, ws *gitdiff.Workspace, routes []egress.Route) (*box, *gitdiff.Workspace, error) {
	b, err := x.openBox(ctx, role, ws.Mount(), routes)
	if !errors.Is(err, sandbox.ErrOverlayUnsupported) || x.layout != gitdiff.LayoutOverlay || x.boxLeft() {
		return b, ws, err
	}
	x.log.emit("", EventSystemMessage, map[string]any{"text": "this engine cannot mount an overlay; using a plain copy of the tree: " + err.Error()})
	x.layout = gitdiff.LayoutCopy
	if err := x.closeTree(ws); err != nil {
		return nil, ws, &cleanupError{what: "tree", err: err}
	}
	if ws, err = x.openTree(ctx, role, tree); err != nil {
		return nil, nil, err
	}
	b, err = x.openBox(ctx, role, ws.Mount(), routes)
	return b, ws, err
}

// closeBox removes the working box. A box that cannot be confirmed as gone
// stays in x.box, so that nobody reads its tree.
func (x *run) closeBox(ctx context.Context) error {
	if err := x.box.close(ctx); err != nil {
		return err
	}
	x.box = nil
	return nil
}
