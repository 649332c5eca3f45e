package runner

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ReapReport lists what was cleared away.
type ReapReport struct {
	Runs    []string `json:"runs"`    // crashed runs that were given a result
	Removed []string `json:"removed"` // boxes and volumes of dead runs
}

// Reap settles every run whose runner died and removes every box, volume and
// tree that belongs to no live run of this state directory.
func (r *Runner) Reap(ctx context.Context) (ReapReport, error) {
	report := ReapReport{Runs: []string{}, Removed: []string{}}
	removed, err := r.o.Engine.Reap(ctx, r.o.State.Alive)
	report.Removed = append(report.Removed, removed...)
	if err != nil {
		return report, fmt.Errorf("reap boxes: %w", err)
	}
	runs, err := r.settleRuns(ctx)
	report.Runs = append(report.Runs, runs...)
	return report, errors.Join(err, r.removeStrays(), r.o.State.sweepSessions(ctx))
}

// settleCrashed does what Reap does, but asks the engine only when a crashed
// run or a stray tree is known, so that a start after an orderly end costs two
// looks at a directory.
func (r *Runner) settleCrashed(ctx context.Context) error {
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
	var done []string
	var errs []error
	err := r.o.State.Crashed(func(dir *RunDir) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := r.settleLost(dir); err != nil {
			errs = append(errs, fmt.Errorf("settle run %s: %w", dir.ID(), err))
			return nil
		}
		done = append(done, dir.ID())
		return nil
	})
	return done, errors.Join(append(errs, err)...)
}

// settleLost writes the result of a run whose runner died. What it had measured
// is in its journal; nothing of it is vouched for here.
func (r *Runner) settleLost(dir *RunDir) error {
	if err := r.o.State.RemoveTrees(dir.ID()); err != nil {
		return err
	}
	plan, err := dir.Plan()
	if err != nil {
		return err
	}
	x := &run{ready: &ready{}, r: r, plan: plan, id: dir.ID(), taskID: plan.TaskID, dir: dir, timing: map[string]int64{}}
	if x.taskID == "" {
		x.taskID = x.id
	}
	if x.started, err = dir.Started(); err != nil {
		return err
	}
	j, err := dir.Journal()
	if err != nil {
		return err
	}
	x.log = newLog(j, nil)
	x.findings.add(fatal, Issue{Type: IssueEnv, Code: CodeRunnerLost,
		Description:     "the runner ended before the run did; a later one cleared away and wrote this result",
		SuggestedAction: "run the task again; the events tell how far it came"})
	x.judgeCommands()
	x.timing["total"] = time.Since(x.started).Milliseconds()
	res := x.result()
	x.log.emit("settle", EventRunEnded, map[string]any{"status": res.Status, "summary": res.Summary})
	return dir.Finish(res, x.log.close)
}
