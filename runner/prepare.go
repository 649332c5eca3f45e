package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"sandboxrun/internal/step"
	"sandboxrun/runner/box"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/sandbox"
)

var stepSetup = step.Define("setup")

// prepare runs the setup commands in the working box.
func prepare(ctx context.Context, x *run) error {
	step.Before(stepSetup)
	defer step.After(stepSetup)
	return x.setup(ctx, x.boxes.Working, "prepare", x.plan.Box.SetupAllow)
}

// setup runs the task's setup commands in a box with an allow-list open, and
// closes it before anything else may run there.
func (x *run) setup(ctx context.Context, b *box.Box, phase string, allow []string) (err error) {
	if len(x.plan.Setup) == 0 {
		return nil
	}
	if err := b.Gate.SetAllow(allow); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Gate.SetAllow(nil)) }()
	for _, text := range x.plan.Setup {
		c, err := x.command(ctx, b, phase, text)
		if err != nil {
			return err
		}
		if *c.ExitCode != 0 {
			return &setupError{command: text, code: c.ExitCode, why: missingProgram(c, x.plan.Box.Image)}
		}
	}
	return nil
}

// command runs one shell command in a box, keeps its whole output in the run's
// logs and records what the engine said about it. The error is a box that was
// lost, hit a limit, or a clock that ended; the record is made all the same.
func (x *run) command(ctx context.Context, b *box.Box, phase, text string) (document.CommandRun, error) {
	return x.commandAs(ctx, b, phase, text, []string{"/bin/sh", "-c", text})
}

// commandAs is command for a shell command that is started in another way.
func (x *run) commandAs(ctx context.Context, b *box.Box, phase, text string, argv []string) (document.CommandRun, error) {
	out, err := x.record.Dir.Spool(fmt.Sprintf("%03d-%s.stdout.log", len(x.evidence.commands)+1, phase))
	if err != nil {
		return document.CommandRun{}, err
	}
	errs, err := x.record.Dir.Spool(fmt.Sprintf("%03d-%s.stderr.log", len(x.evidence.commands)+1, phase))
	if err != nil {
		return document.CommandRun{}, errors.Join(err, out.Close())
	}
	ctx, idle, unwatch := watchIdle(ctx, time.Duration(x.r.o.Config.Limits.IdleSeconds)*time.Second)
	defer unwatch()
	exit, runErr := b.Exec(ctx, sandbox.Command{Argv: argv, Stdout: idle.heard(out), Stderr: idle.heard(errs)})
	closeErr := errors.Join(out.Close(), errs.Close())
	c := document.CommandRun{
		Command: text, Source: "runner", Phase: phase, DurationMS: exit.Duration.Milliseconds(),
		StdoutExcerpt: out.Excerpt(), StderrExcerpt: errs.Excerpt(), Truncated: out.Truncated() || errs.Truncated(),
	}
	if runErr == nil {
		c.ExitCode = &exit.Code
	}
	var limit *sandbox.LimitError
	c.TimedOut = errors.As(runErr, &limit) && limit.Limit == sandbox.LimitTime
	x.evidence.commands = append(x.evidence.commands, c)
	x.evidence.logFiles = append(x.evidence.logFiles, out.Path(), errs.Path())
	x.record.Log.Emit(phase, journal.CommandOutput{CommandRun: c})
	return c, errors.Join(runErr, closeErr)
}

// idleClock ends a command that prints nothing for too long. Every write to one
// of its writers restarts the time.
type idleClock struct {
	timer *time.Timer
	most  time.Duration
}

// watchIdle returns a context that ends when a command has been silent for most,
// and the clock that its output must restart. Without a limit nothing is watched.
func watchIdle(ctx context.Context, most time.Duration) (context.Context, *idleClock, context.CancelFunc) {
	if most <= 0 {
		return ctx, nil, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(most, func() {
		cancel(&sandbox.LimitError{Limit: sandbox.LimitTime, Which: sandbox.MeasureIdle, Allowed: int64(most / time.Second), Measured: int64(most / time.Second),
			Detail: fmt.Sprintf("no output for %s", most)})
	})
	return ctx, &idleClock{timer, most}, func() { timer.Stop(); cancel(nil) }
}

// heard restarts the clock with every write to w.
func (c *idleClock) heard(w io.Writer) io.Writer {
	if c == nil {
		return w
	}
	return &heardWriter{c, w}
}

type heardWriter struct {
	clock *idleClock
	to    io.Writer
}

func (w *heardWriter) Write(p []byte) (int, error) {
	w.clock.timer.Reset(w.clock.most)
	return w.to.Write(p)
}
