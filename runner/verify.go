package runner

import (
	"context"
	"errors"
	"fmt"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/box"
	"sandboxrun/runner/check"
	"sandboxrun/runner/measure"
	"sandboxrun/runner/plan"
	"sandboxrun/sandbox"
)

// phaseVerify is the verification of the change.
const phaseVerify = "verify"

// skipVerify says that there is nothing to verify, or that no box may be started.
func skipVerify(x *run) bool {
	return x.change.snapshot == nil || x.report.halted() || len(x.plan.Verify) == 0 && !x.needsGoAPI()
}

// verify measures the commands on exactly the captured tree, and on the base
// commit too when the task wants a baseline. Where the engine cannot mount the
// overlay of the first box, the trees are made again as plain files.
func verify(ctx context.Context, x *run) error {
	x.readManifests(ctx)
	b := &measure.Bench{Trees: &x.trees, Boxes: &x.boxes, Under: x.under(), Command: x.recorded}
	if len(x.plan.Setup) > 0 {
		b.SetUp = func(ctx context.Context, bx *box.Box, allow []string) error { return x.setup(ctx, bx, "verify", allow) }
	}
	err := x.verifyOn(ctx, b)
	if errors.Is(err, sandbox.ErrOverlayUnsupported) && x.trees.Layout == workspace.LayoutOverlay && !b.Began && !x.boxes.Left() {
		x.record.Log.Remark("this engine cannot mount an overlay; using a plain copy of the tree: %v", err)
		x.trees.Layout = workspace.LayoutCopy
		err = x.verifyOn(ctx, b)
	}
	return err
}

// verifyOn sets up, then measures. Set-up runs on the base tree, before anything
// of the change is there: it has a network, and code of the change must have
// none but the one that the task opens for it.
func (x *run) verifyOn(ctx context.Context, b *measure.Bench) (err error) {
	if x.needsGoAPI() {
		if err := x.extractGoAPI(ctx, b); err != nil {
			return err
		}
	}
	if len(x.plan.Verify) == 0 {
		return nil
	}
	var base, own measure.Setup
	defer func() { err = errors.Join(err, b.Remove(own), b.Remove(base)) }()
	anew := x.plan.VerifySetup == plan.SetupOnCaptured
	if !anew || x.plan.Baseline {
		if base, err = b.Prepare(ctx, "setup", x.base.Tree, x.plan.Box.SetupAllow); err != nil {
			return err
		}
	}
	if x.plan.Baseline {
		if x.evidence.baselines, err = x.measure(ctx, b, "baseline", x.base.Tree, base); err != nil {
			return err
		}
	}
	tree, err := x.verifiedTree(ctx)
	if err != nil {
		return err
	}
	setup := base
	if anew {
		if own, err = b.Prepare(ctx, "verify.setup", tree, x.plan.Box.VerifyAllow); err != nil {
			return err
		}
		setup = own
	}
	if x.evidence.inputs, err = x.touchedInputs(ctx, base.Tree); err != nil {
		return err
	}
	if x.evidence.verified, err = x.measure(ctx, b, phaseVerify, tree, setup); err != nil {
		return err
	}
	return x.compare(ctx, b, &base)
}

// verifiedTree is the captured tree with protected paths as the base has them: a
// test that the change must not touch is measured as it was.
func (x *run) verifiedTree(ctx context.Context) (string, error) {
	tree := x.change.snapshot.Tree
	if len(x.plan.Protected) == 0 {
		return tree, nil
	}
	names, err := check.ProtectedNames(ctx, x.plan.Protected, x.change.diff.Changes)
	if err != nil || len(names) == 0 {
		return tree, err
	}
	if tree, err = x.trees.Objects.Restore(ctx, tree, x.base.Tree, names); err != nil {
		return "", fmt.Errorf("protected paths: %w", err)
	}
	return tree, nil
}

// measure runs each verification command on a tree in a box of its own.
func (x *run) measure(ctx context.Context, b *measure.Bench, role, tree string, setup measure.Setup) (out []verifyOutcome, err error) {
	return x.measureThese(ctx, b, role, tree, setup, x.plan.Verify)
}

// measureThese is measure for some of the commands.
func (x *run) measureThese(ctx context.Context, b *measure.Bench, role, tree string, setup measure.Setup, these []plan.VerifyCommand) (out []verifyOutcome, err error) {
	var commands []string
	for _, c := range these {
		out, commands = append(out, verifyOutcome{VerifyCommand: c}), append(commands, c.Command)
	}
	ran, err := b.Run(ctx, role, tree, setup, commands)
	for i := range ran {
		out[i].run, out[i].report = ran[i], x.reports[role+" "+commands[i]]
	}
	return out, err
}

// maxCompared bounds how many changed inputs are compared with what set-up made
// of them; further ones count as touched.
const maxCompared = 100

// touchedInputs lists the files that set-up reads and the change touches. A file
// that set-up on the base makes exactly as the change has it is none: installers
// write lock files, and in the working box the capture takes those along. setup
// is what that set-up left, nil where it did not run.
func (x *run) touchedInputs(ctx context.Context, setup *workspace.Workspace) ([]string, error) {
	if len(x.plan.Setup) == 0 {
		return nil, nil
	}
	touched, err := check.NewInputs(x.plan.SetupInputs).Touched(ctx, x.change.diff.Changes)
	if err != nil {
		return nil, fmt.Errorf("compare with inputs of set-up: %w", err)
	}
	var list []string
	for i, c := range touched {
		if setup != nil && i < maxCompared && c.NewID != "" && c.OldName == "" {
			same, err := setup.Holds(ctx, c.Name, c.NewID)
			if err != nil {
				return nil, fmt.Errorf("compare with inputs of set-up: %w", err)
			}
			if same {
				continue
			}
		}
		list = append(list, c.Path)
	}
	return list, nil
}
