package runner

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/box"
	"sandboxrun/runner/plan"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// open starts the working box.
func open(ctx context.Context, x *run) error {
	routes, err := x.r.modelRoutes(x.plan, x.key)
	if err != nil {
		return err
	}
	b, tree, err := x.boxOn(ctx, box.RoleAgent, x.base.Tree, x.trees.Working, routes)
	x.trees.Working = tree
	if err != nil {
		return err
	}
	x.boxes.Working = b
	if d, ok := b.Sandbox.(sandbox.Details); ok {
		x.boxes.Made = d.Details()
	}
	return nil
}

// boxOn starts a box on a tree. Where the engine cannot mount the overlay, the
// tree is made again as plain files, and so are all later ones of this run. It
// returns the workspace that is in use afterwards, also with an error.
func (x *run) boxOn(ctx context.Context, role, tree string, ws *workspace.Workspace, routes []egress.Route) (*box.Box, *workspace.Workspace, error) {
	b, err := x.boxes.Open(ctx, role, ws.Mount(), routes)
	if !errors.Is(err, sandbox.ErrOverlayUnsupported) || x.trees.Layout != workspace.LayoutOverlay || x.boxes.Left() {
		return b, ws, err
	}
	x.record.Log.Remark("this engine cannot mount an overlay; using a plain copy of the tree: %v", err)
	x.trees.Layout = workspace.LayoutCopy
	if err := x.trees.Close(ws); err != nil {
		return nil, ws, err
	}
	if ws, err = x.trees.Open(ctx, role, x.under(), tree); err != nil {
		return nil, nil, err
	}
	b, err = x.boxes.Open(ctx, role, ws.Mount(), routes)
	return b, ws, err
}

// noBox says that no working box is open.
func noBox(x *run) bool { return x.boxes.Working == nil }

// closeBox is the phase close: it removes the working box. A box that cannot be
// confirmed as removed stays the working one, so that nobody reads its tree. The
// process that will read it starts meanwhile.
func closeBox(ctx context.Context, x *run) error {
	x.child = x.r.o.Reader.Start()
	if err := x.boxes.Working.Close(ctx); err != nil {
		return err
	}
	x.boxes.Working = nil
	return nil
}

// budget bounds the model requests of the run; reaching a limit ends its work.
func (x *run) budget(stop context.CancelCauseFunc) egress.Budget {
	l := x.r.o.Config.Limits
	return &box.Budget{Run: x.plan.Spending, Day: plan.Spending{Tokens: l.TokensPerDay, Requests: l.RequestsPerDay}, State: x.r.o.State,
		Reached: func(l *sandbox.LimitError) { stop(l) }, Remark: x.record.Log.Remark}
}

// modelRoutes are the provider's calls that the working box may make: those of
// the one wire the agent was planned with.
func (r *Runner) modelRoutes(p *plan.Plan, key egress.KeyFunc) ([]egress.Route, error) {
	if p.Agent == nil {
		return nil, nil
	}
	name := p.Agent.Provider
	base, err := url.Parse(r.o.Config.Providers[name].BaseURL)
	if err != nil {
		return nil, fmt.Errorf("provider %s: base_url: %w", name, err)
	}
	route, err := egress.NewRoute(name, base, key, p.Agent.Wire)
	if err != nil {
		return nil, err
	}
	return []egress.Route{egress.Under(egress.Policy{Models: p.Agent.Models, Grants: p.Agent.Grants}, route)}, nil
}
