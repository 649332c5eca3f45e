package runner

import (
	"context"
	"errors"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/sandbox"
)

// skipVerify says that there is nothing to verify, or that no box may be started.
func skipVerify(x *run) bool {
	return x.change.snapshot == nil || x.report.halted() || len(x.plan.Verify) == 0
}

// verify measures the commands on exactly the captured tree, and on the base
// commit too when the task wants a baseline. Where the engine cannot mount the
// overlay of the first box, the trees are made again as plain files.
func verify(ctx context.Context, x *run) error {
	v := &verification{x: x}
	err := v.run(ctx)
	if errors.Is(err, sandbox.ErrOverlayUnsupported) && x.trees.Layout == workspace.LayoutOverlay && !v.began && !x.boxes.Left() {
		x.record.Log.Remark("this engine cannot mount an overlay; using a plain copy of the tree: %v", err)
		x.trees.Layout = workspace.LayoutCopy
		err = v.run(ctx)
	}
	return err
}

// verification is the phase verify of a run.
type verification struct {
	x     *run
	began bool // a command was run
}

// run sets up, then measures. Set-up runs on the base tree, before anything of
// the change is there: it has a network, and code of the change must have none.
func (v *verification) run(ctx context.Context) (err error) {
	x := v.x
	left, err := x.setUp(ctx, "setup", x.base.Tree)
	defer func() { err = errors.Join(err, left.remove(x)) }()
	if err != nil {
		return err
	}
	if x.plan.Baseline {
		if x.evidence.baselines, err = v.measure(ctx, "baseline", x.base.Tree, left); err != nil {
			return err
		}
	}
	x.evidence.verified, err = v.measure(ctx, "verify", x.change.snapshot.Tree, left)
	return err
}

// measure runs each verification command on a tree in a box of its own.
func (v *verification) measure(ctx context.Context, role, tree string, setup setupLeft) ([]verifyOutcome, error) {
	m := &measurement{x: v.x, role: role, shared: shared{tree: tree, setup: setup}}
	for _, c := range v.x.plan.Verify {
		m.out = append(m.out, verifyOutcome{VerifyCommand: c})
	}
	err := m.run(ctx)
	v.began = v.began || m.began
	return m.out, err
}
