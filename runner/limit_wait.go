package runner

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// admit checks that a plan can be run and takes a place among the runs of the
// state directory. Who has to wait holds nothing meanwhile, and everything is
// looked at again afterwards: the base may have moved on. started is when the
// task's clock began, which is after the waiting.
func (r *Runner) admit(ctx context.Context, p *Plan) (rd *ready, held *slot, started time.Time, err error) {
	limits := r.o.Config.Limits
	memory := p.Box.Limits.MemoryBytes
	if most := int64(limits.TotalMemory); most > 0 && memory > most {
		return nil, nil, started, inputAt("/box/memory",
			fmt.Sprintf("is %s, more than the %s that limits.total_memory gives all runs together", Size(memory), limits.TotalMemory))
	}
	started = time.Now()
	if rd, err = r.preflight(ctx, p); err != nil {
		return nil, nil, started, err
	}
	held, full, err := r.o.State.takeSlot(ctx, limits.quota(), memory)
	if err == nil && held != nil {
		return rd, held, started, nil
	}
	if err = errors.Join(err, rd.session.leave(), rd.repo.Close()); err != nil {
		return nil, nil, started, fmt.Errorf("take a place among the runs: %w", err)
	}
	if held, err = r.awaitSlot(ctx, memory, full); err != nil {
		return nil, nil, started, err
	}
	started = time.Now()
	if rd, err = r.preflight(ctx, p); err != nil {
		return nil, nil, started, errors.Join(err, held.release())
	}
	return rd, held, started, nil
}

// awaitSlot waits until there is room, for as long as the user allows.
func (r *Runner) awaitSlot(ctx context.Context, memory int64, full string) (*slot, error) {
	limits := r.o.Config.Limits
	patience := time.Duration(max(0, limits.WaitSeconds)) * time.Second
	began := time.Now()
	if r.o.Waiting != nil && patience > 0 {
		r.o.Waiting(fmt.Sprintf("waiting up to %s for other runs to end: %s", patience, full))
	}
	again := time.NewTicker(slotGap)
	defer again.Stop()
	for {
		if time.Since(began) >= patience {
			return nil, &BusyError{Reason: full, Waited: time.Since(began)}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-again.C:
		}
		var held *slot
		var err error
		if held, full, err = r.o.State.takeSlot(ctx, limits.quota(), memory); err != nil || held != nil {
			return held, err
		}
	}
}
