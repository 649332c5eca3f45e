package runner

import (
	"context"
	"errors"
	"fmt"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/step"
)

// verifyOutcome is one command of the verification; a nil ExitCode means that
// it never got to an end.
type verifyOutcome struct {
	VerifyCommand
	run CommandRun
}

func (v verifyOutcome) passed() bool { return v.run.ExitCode != nil && *v.run.ExitCode == v.ExpectExit }

// verify runs the measured commands in a fresh box on exactly the captured
// tree, and on the base commit too when the task asks for a baseline.
func (x *run) verify(ctx context.Context) error {
	if x.plan.Baseline {
		out, err := x.measure(ctx, "baseline", x.base.Tree)
		x.baselines = out
		if err != nil {
			return err
		}
	}
	out, err := x.measure(ctx, "verify", x.snapshot.Tree)
	x.verified = out
	return err
}

// measure runs the verification commands on a tree in a box of its own. It has
// no way out but what setup commands may use.
func (x *run) measure(ctx context.Context, role, tree string) (out []verifyOutcome, err error) {
	for _, v := range x.plan.Verify {
		out = append(out, verifyOutcome{VerifyCommand: v})
	}
	ws, err := x.openTree(ctx, role, tree)
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
		err = step.Do(ctx, stepVerify, role, func() (err error) {
			out[i].run, err = x.command(ctx, b, role, out[i].Command)
			return err
		})
		if err != nil {
			return out, fmt.Errorf("command %q: %w", out[i].Command, err)
		}
	}
	return out, nil
}

// discard removes a box and its tree; either may be nil.
func (x *run) discard(ctx context.Context, b *box, ws *gitdiff.Workspace) error {
	cctx, cancel := teardown(ctx, "removal of a box", closeBound)
	defer cancel()
	if b != nil {
		if err := b.close(cctx); err != nil {
			return err
		}
	}
	if ws != nil && !x.boxLeft() {
		if err := x.closeTree(ws); err != nil {
			return &cleanupError{what: "tree", err: err}
		}
	}
	return nil
}
