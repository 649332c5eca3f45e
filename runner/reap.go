package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
	"sandboxrun/runner/program"
	"sandboxrun/runner/state"
)

// What a later runner does for dead ones.
var (
	stepReapBoxes    = step.Define("reap/boxes")
	stepReapStrays   = step.Define("reap/strays")
	stepReapSessions = step.Define("reap/sessions")
	stepReapSweep    = step.Define("reap/sweep")
)

// ReapReport lists what was cleared away.
type ReapReport struct {
	Runs    []string `json:"runs"`    // crashed runs that were given a result
	Removed []string `json:"removed"` // boxes and volumes of dead runs
}

// Reap settles every run whose runner died and removes every box, volume and
// tree that belongs to no live run of this state directory. It may die at any
// point and be called again.
func (r *Runner) Reap(ctx context.Context) (report ReapReport, err error) {
	report = ReapReport{Runs: []string{}, Removed: []string{}}
	// Locked before the engine is asked: a run that dies after that has boxes
	// nobody has looked for, and is settled another time.
	dead, err := r.o.State.TakeDead()
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, state.UnlockAll(dead)) }()
	report.Removed, err = r.reapBoxes(ctx, dead)
	if err != nil {
		return report, fmt.Errorf("reap boxes: %w", err)
	}
	runs, err := r.settleDead(ctx, dead)
	report.Runs = append(report.Runs, runs...)
	step.Before(stepReapStrays)
	err = errors.Join(err, r.removeStrays())
	step.After(stepReapStrays)
	step.Before(stepReapSessions)
	err = errors.Join(err, r.o.State.SweepSessions(ctx))
	step.After(stepReapSessions)
	step.Before(stepReapSweep)
	err = errors.Join(err, r.sweep())
	step.After(stepReapSweep)
	return report, err
}

// sweep removes what was half-made by whoever died.
func (r *Runner) sweep() error {
	trees := gitdiff.NewStore(r.o.State.TreesDir())
	return errors.Join(r.o.State.Sweep(), r.o.State.SweepFiles(), trees.Sweep(), workspace.Sweep(trees),
		program.Sweep(r.o.State.ProgramsDir()))
}

// settleCrashed does what Reap does, but asks the engine only when a crashed
// run or a stray tree is known, so that a start after an orderly end costs three
// looks at a directory.
func (r *Runner) settleCrashed(ctx context.Context) error {
	if err := program.Sweep(r.o.State.ProgramsDir()); err != nil {
		return err
	}
	crashed, err := r.o.State.HasCrashed()
	if err != nil {
		return err
	}
	strays, err := r.o.State.Strays()
	if err != nil || !crashed && len(strays) == 0 {
		return err
	}
	_, err = r.Reap(ctx)
	return err
}

// reapBoxes removes the boxes of dead runs, those that the engine is still
// making included.
func (r *Runner) reapBoxes(ctx context.Context, dead []*state.RunDir) ([]string, error) {
	ours := map[string]bool{}
	for _, d := range dead {
		ours[r.o.State.Owner(d.ID())] = true
	}
	alive := func(owner string) bool { return !ours[owner] && r.o.State.Alive(owner) }
	removed := []string{}
	reap := func() error {
		gone, err := r.o.Engine.Reap(ctx, alive)
		removed = append(removed, gone...)
		return err
	}
	step.Before(stepReapBoxes)
	err := reap()
	step.After(stepReapBoxes)
	if err != nil {
		return removed, err
	}
	wait := state.Pending(dead, removed)
	if wait <= 0 {
		return removed, nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return removed, context.Cause(ctx)
	}
	return removed, reap()
}

// removeStrays removes the trees of ended runs. Their boxes are already gone.
func (r *Runner) removeStrays() error {
	strays, err := r.o.State.Strays()
	for _, id := range strays {
		err = errors.Join(err, r.o.State.RemoveTrees(id))
	}
	return err
}

// settleRuns gives every crashed run a result. Its boxes are already gone.
func (r *Runner) settleRuns(ctx context.Context) ([]string, error) {
	dead, err := r.o.State.TakeDead()
	if err != nil {
		return nil, err
	}
	done, err := r.settleDead(ctx, dead)
	return done, errors.Join(err, state.UnlockAll(dead))
}

// settleDead gives runs whose locks are held a result. One that cannot be
// settled keeps none of the others from it.
func (r *Runner) settleDead(ctx context.Context, dead []*state.RunDir) (done []string, err error) {
	for _, d := range dead {
		if ctx.Err() != nil {
			return done, errors.Join(err, context.Cause(ctx))
		}
		settled, serr := r.settleLost(ctx, d)
		if serr != nil {
			err = errors.Join(err, fmt.Errorf("settle run %s: %w", d.ID(), serr))
		}
		if settled {
			done = append(done, d.ID())
		}
	}
	return done, err
}
