package runner

import (
	"context"
	"errors"
	"fmt"

	"sandboxrun/internal/step"
)

var stepVerify = step.Define("verify/command")

// skipVerify says that there is nothing to verify, or that no box may be started.
func skipVerify(x *run) bool {
	return x.change.snapshot == nil || x.report.halted() || len(x.plan.Verify) == 0
}

// verify runs the measured commands in a fresh box on exactly the captured
// tree, and on the base commit too when the task wants a baseline.
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

// measure runs the verification commands on a tree in a box of its own. It has
// no way out but what setup commands may use.
func (x *run) measure(ctx context.Context, role, tree string) (out []verifyOutcome, err error) {
	for _, v := range x.plan.Verify {
		out = append(out, verifyOutcome{VerifyCommand: v})
	}
	ws, err := x.trees.Open(ctx, role, x.under(), tree)
	if err != nil {
		return out, err
	}
	b, ws, err := x.boxOn(ctx, role, tree, ws, nil)
	defer func() { err = errors.Join(err, x.discard(ctx, b, ws)) }()
	if err != nil {
		return out, err
	}
	if err := x.setup(ctx, b, role); err != nil {
		return out, err
	}
	for i := range out {
		step.Before(stepVerify)
		out[i].run, err = x.command(ctx, b, role, out[i].Command)
		step.After(stepVerify)
		if err != nil {
			return out, fmt.Errorf("command %q: %w", out[i].Command, err)
		}
	}
	return out, nil
}
