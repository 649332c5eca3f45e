package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/program"
	"sandboxrun/runner/state"
)

// Execute runs a plan and returns its result. An error is only returned while
// nothing has been created: an *InputError, a *sandbox.UnavailableError, a
// *sandbox.ImageError, a *BusyError, or a failure of the state directory. From then on
// whatever fails is reported in the result. Cancelling ctx (with an Interrupted
// cause) stops the run; the result still arrives. watch, if not nil, receives
// every journal event in order and must not block.
func (r *Runner) Execute(ctx context.Context, p *plan.Plan, watch func(journal.Event)) (*document.Result, error) {
	return r.ExecuteAs(ctx, Identity{ID: state.NewID()}, p, watch)
}

// Identity is what a run is called, and where it comes from.
type Identity struct {
	ID     string       // made by state.NewID
	Worker state.Worker // Detached, Attempt and First; the rest is filled in
	// Begun is called once the run is sure to get a result; may be nil.
	Begun func(*state.RunDir)
}

// ExecuteAs is Execute for a run that has its id already.
func (r *Runner) ExecuteAs(ctx context.Context, as Identity, p *plan.Plan, watch func(journal.Event)) (*document.Result, error) {
	ready, slot, started, err := r.admit(ctx, p)
	if err != nil {
		return nil, err
	}
	// Nothing depends on it: the kernel releases it with the process.
	defer func() { _ = slot.Release() }()
	if ready.guest, err = r.pinGuest(); err != nil {
		return nil, errors.Join(err, ready.session.Leave(), ready.repo.Close())
	}
	// The run has its result by then, and the next sweep removes what is left.
	defer func() { _ = ready.guest.Release() }()
	run, err := r.newRun(ctx, as, p, ready, started, watch)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create run: %w", err), ready.session.Leave(), ready.repo.Close())
	}
	if err := r.settleCrashed(ctx); err != nil {
		run.report.add(issue(document.CodeCleanupFailed, "an earlier run could not be settled: "+err.Error()).
			withSeverity(document.SeverityNote).withAction("run \"sandboxrun reap\""))
	}
	return run.do(ctx), nil
}

// pinGuest keeps the program that becomes the main process of boxes, so that all boxes of a run have the same one.
func (r *Runner) pinGuest() (*program.Pinned, error) {
	return program.Pin(r.o.State.ProgramsDir(), r.o.GuestBinary)
}

// admit checks that a plan can be run and takes a place among the runs of the
// state directory. Who has to wait holds nothing meanwhile, and everything is
// looked at again afterwards: the base may have moved on. started is when the
// task's clock began, which is after the waiting.
func (r *Runner) admit(ctx context.Context, p *plan.Plan) (rd *ready, held *state.Slot, started time.Time, err error) {
	limits := r.o.Config.Limits
	memory := p.Box.Limits.MemoryBytes
	if most := int64(limits.TotalMemory); most > 0 && memory > most {
		return nil, nil, started, document.InputAt("/box/memory",
			fmt.Sprintf("is %s, more than the %s that limits.total_memory gives all runs together", document.Size(memory), limits.TotalMemory))
	}
	started = time.Now()
	if rd, err = r.preflight(ctx, p); err != nil {
		return nil, nil, started, err
	}
	held, full, err := r.takeSlot(ctx, memory)
	if err == nil && held != nil {
		return rd, held, started, nil
	}
	if err = errors.Join(err, rd.session.Leave(), rd.repo.Close()); err != nil {
		return nil, nil, started, fmt.Errorf("take a place among the runs: %w", err)
	}
	if held, err = r.awaitSlot(ctx, memory, full); err != nil {
		return nil, nil, started, err
	}
	started = time.Now()
	if rd, err = r.preflight(ctx, p); err != nil {
		return nil, nil, started, errors.Join(err, held.Release())
	}
	return rd, held, started, nil
}

// awaitSlot waits until there is room, for as long as the user allows.
func (r *Runner) awaitSlot(ctx context.Context, memory int64, full string) (*state.Slot, error) {
	limits := r.o.Config.Limits
	patience := time.Duration(max(0, limits.WaitSeconds)) * time.Second
	began := time.Now()
	if r.o.Waiting != nil && patience > 0 {
		r.o.Waiting(fmt.Sprintf("waiting up to %s for other runs to end: %s", patience, full))
	}
	again := time.NewTicker(state.SlotGap)
	defer again.Stop()
	for {
		if time.Since(began) >= patience {
			return nil, &document.BusyError{Reason: full, Waited: time.Since(began)}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-again.C:
		}
		var held *state.Slot
		var err error
		if held, full, err = r.takeSlot(ctx, memory); err != nil || held != nil {
			return held, err
		}
	}
}

func (r *Runner) takeSlot(ctx context.Context, memory int64) (taken *state.Slot, full string, err error) {
	var q state.Quota
	q.Runs, q.Memory = r.o.Config.Limits.Quota()
	return r.o.State.TakeSlot(ctx, q, memory)
}
