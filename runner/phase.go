package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/sandbox"
)

// phase is one step of a run. Phases without a bound of their own run under the
// task's clock; those with one are owed to the user whatever happened, and so run
// under it even after a limit or an interruption.
type phase struct {
	name  string
	bound time.Duration
	heeds bool            // a signal that comes meanwhile ends it after [signalGrace]
	skip  func(*run) bool // nil: never skipped
	do    func(context.Context, *run) error
}

// phases is the whole of a run, in order; settle follows. Save, of a session only,
// comes before close because the conversation is in the box; close comes before
// snapshot so that nothing can change the tree under the reader; snapshot before
// verify so that what tests write never counts; verify in fresh boxes so that
// nothing the agent left behind influences a verdict; judge before land so that
// every verdict is known by then. Each phase has the file of its name.
var phases = []phase{
	{name: "checkout", do: checkout},
	{name: "open", skip: skipAfterFailure, do: open},
	{name: "prepare", skip: skipAfterFailure, do: prepare},
	{name: "agent", skip: skipAfterFailure, do: work},
	{name: plan.PhaseSave, bound: plan.SaveBound, skip: skipSave, do: save},
	{name: "close", bound: plan.CloseBound, skip: noBox, do: closeBox},
	{name: "snapshot", bound: plan.SnapshotBound, heeds: true, skip: skipSnapshot, do: snapshot},
	{name: "verify", skip: skipVerify, do: verify},
	{name: "judge", bound: plan.JudgeBound, do: judge},
	{name: phaseLand, bound: plan.LandBound, skip: skipLand, do: landChange},
}

// skipAfterFailure says that an earlier phase failed, so that further work is
// pointless.
func skipAfterFailure(x *run) bool { return x.report.stopped }

// runPhase runs one phase under its clock and records how it went.
func (x *run) runPhase(ctx, work context.Context, ph phase) {
	began := time.Now()
	x.record.Log.Emit(ph.name, journal.PhaseStarted{})
	pctx, cancel := work, context.CancelFunc(func() {})
	if ph.bound > 0 {
		pctx, cancel = teardown(ctx, ph.name, ph.bound)
	}
	if ph.heeds {
		pctx, cancel = heeding(ctx, pctx, cancel)
	}
	err := context.Cause(pctx)
	if err == nil {
		err = withCause(pctx, ph.do(pctx, x))
	}
	cancel()
	ended := journal.PhaseEnded{DurationMS: time.Since(began).Milliseconds()}
	x.report.timing[ph.name] = ended.DurationMS
	if err != nil {
		ended.Error = err.Error()
		x.report.fail(ph.name, err)
	}
	x.record.Log.Emit(ph.name, ended)
	x.record.Log.Sync()
}

// withCause adds what ended ctx to an error that says no more than that ctx ended:
// not every library reports the cause.
func withCause(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(err, cause) || !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// teardown returns a context for work that must be done although ctx may have
// ended: removing, capturing, landing, recording. It keeps the values of ctx but
// not its end, and has a bound of its own whose cause names what overran.
func teardown(ctx context.Context, what string, bound time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(ctx), bound,
		fmt.Errorf("%s took longer than %s", what, bound))
}

// cancelPoll is how often a run looks whether somebody asked for its end.
const cancelPoll = 100 * time.Millisecond

// heed returns a context that ends with the cause Cancelled when somebody asks
// for the end of the run. The returned function stops looking.
func (x *run) heed(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		again := time.NewTicker(cancelPoll)
		defer again.Stop()
		for {
			if asked := x.cancelled(); asked != nil {
				cancel(*asked)
			}
			select {
			case <-ctx.Done():
				return
			case <-again.C:
			}
		}
	})
	return ctx, func() { cancel(nil); looking.Wait() }
}

// cancelled is what the run was cancelled with, nil where it was not.
func (x *run) cancelled() *document.Cancelled {
	c, asked, err := x.record.Dir.Mailbox().Cancelled()
	if err != nil || !asked {
		return nil //nolint:nilerr // a directory that cannot be read is looked at again
	}
	return &document.Cancelled{By: c.By, Reason: c.Reason}
}

// cancelIfAsked keeps a cancelled run from going on, also between phases that
// are owed whatever happened: nothing of it lands.
func (x *run) cancelIfAsked(phase string) {
	if x.report.interrupted {
		return
	}
	if asked := x.cancelled(); asked != nil {
		x.report.cancel(phase, *asked)
	}
}

// signalGrace is how long the reading of a tree may go on after a signal: nearly always long enough for its patch.
const signalGrace = time.Second

// heeding returns a context for work that is owed to the user, which also ends signalGrace after ctx does. It goes on where
// ctx has ended before: that signal ended the work whose change is still to be read, and the next one ends this program.
func heeding(ctx, owed context.Context, cancel context.CancelFunc) (context.Context, context.CancelFunc) {
	if ctx.Err() != nil {
		return owed, cancel
	}
	owed, end := context.WithCancelCause(owed)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(signalGrace):
			end(context.Cause(ctx))
		case <-owed.Done():
		}
	})
	return owed, func() {
		stop()
		end(nil)
		cancel()
	}
}

// do runs the phases. It never fails: what goes wrong becomes an issue, and the
// phases that close, capture and settle are run all the same.
func (x *run) do(ctx context.Context) *document.Result {
	ctx, heard := x.heed(ctx)
	defer heard()
	limit := time.Duration(x.plan.MaxRuntimeSeconds) * time.Second
	work, cancel := context.WithDeadlineCause(ctx, x.started.Add(limit),
		&sandbox.LimitError{Limit: sandbox.LimitTime, Which: sandbox.MeasureRuntime,
			Allowed: int64(x.plan.MaxRuntimeSeconds), Measured: int64(x.plan.MaxRuntimeSeconds), Detail: limit.String()})
	defer cancel()
	work, stop := context.WithCancelCause(work)
	defer stop(nil)
	x.boxes.Budget = x.budget(stop)
	for _, ph := range phases {
		x.cancelIfAsked(ph.name)
		if ph.skip == nil || !ph.skip(x) {
			x.runPhase(ctx, work, ph)
		}
	}
	x.child.Stop() // where there was nothing to read
	return settle(ctx, x)
}
