package runner

import (
	"context"
	"errors"

	"sandboxrun/internal/step"
	"sandboxrun/runner/box"
)

var stepSetup = step.Define("setup")

// prepare runs the setup commands in the working box.
func prepare(ctx context.Context, x *run) error {
	step.Before(stepSetup)
	defer step.After(stepSetup)
	return x.setup(ctx, x.boxes.Working, "prepare")
}

// setup runs the task's setup commands in a box with the allow-list open, and
// closes it before anything else may run there.
func (x *run) setup(ctx context.Context, b *box.Box, phase string) (err error) {
	if len(x.plan.Setup) == 0 {
		return nil
	}
	if err := b.Gate.SetAllow(x.plan.Box.SetupAllow); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Gate.SetAllow(nil)) }()
	for _, text := range x.plan.Setup {
		c, err := x.command(ctx, b, phase, text)
		if err != nil {
			return err
		}
		if *c.ExitCode != 0 {
			return &setupError{command: text, code: c.ExitCode}
		}
	}
	return nil
}
