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
// commit too when the task wants a baseline.
func verify(ctx context.Context, x *run) error {
	if x.plan.Baseline {
		out, err := x.measure(ctx, "baseline", x.base.Tree)
		x.evidence.baselines = out
		if err != nil {
			return err
		}
	}
	out, err := x.measure(ctx, "verify", x.change.snapshot.Tree)
	x.evidence.verified = out
	return err
}

// measure runs each verification command on a tree in a box of its own. Where
// the engine cannot mount the overlay of the first one, the trees are made
// again as plain files.
func (x *run) measure(ctx context.Context, role, tree string) ([]verifyOutcome, error) {
	m := &measurement{x: x, role: role, tree: tree}
	for _, v := range x.plan.Verify {
		m.out = append(m.out, verifyOutcome{VerifyCommand: v})
	}
	err := m.run(ctx)
	if errors.Is(err, sandbox.ErrOverlayUnsupported) && x.trees.Layout == workspace.LayoutOverlay && !m.began && !x.boxes.Left() {
		x.record.Log.Remark("this engine cannot mount an overlay; using a plain copy of the tree: %v", err)
		x.trees.Layout = workspace.LayoutCopy
		err = m.run(ctx)
	}
	return m.out, err
}
