package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sandboxrun/runner"
	"sandboxrun/runner/document"
	"sandboxrun/runner/queue"
	"sandboxrun/runner/state"
)

// maxStarts is how many processes may die over a task before its run has begun.
const maxStarts = 3

// busyPause is how long a task goes back to the queue when there is no room for it after all.
const busyPause = 2 * time.Second

// Work runs a task of the queue in this process: taken is called once the entry is this process's, and begun with the
// directory of the run. A task that another process has is left to it.
func (s *Service) Work(ctx context.Context, id string, taken func(), begun func(*state.RunDir)) error {
	t, err := s.queue().Take(id)
	taken()
	if err != nil || t == nil || !t.Waits() {
		if t != nil {
			err = errors.Join(err, t.Close())
		}
		return err
	}
	res, err := s.execute(ctx, t, begun)
	if err != nil {
		if err = s.putBack(ctx, t, err); err != nil {
			return err
		}
	} else if err := s.repeat(ctx, t.Entry, res); err != nil {
		return err
	}
	s.kick(ctx)
	return nil
}

// execute runs a taken task. Its entry leaves the queue when the run is sure to get a result.
func (s *Service) execute(ctx context.Context, t *queue.Taken, begun func(*state.RunDir)) (*document.Result, error) {
	if done, err := s.begun(t.RunID); err != nil || done {
		if done { // the process that began it died before it could remove the entry
			err = errors.Join(err, t.Remove())
		}
		return nil, err
	}
	t.Starts++
	if t.Starts > maxStarts {
		return nil, fmt.Errorf("%d processes died before the run had begun", maxStarts)
	}
	if err := t.Rewrite(ctx); err != nil {
		return nil, err
	}
	if _, err := s.o.State.Run(t.RunID); err == nil { // left by a process that died before it had a plan
		if _, err := s.o.Runner.Reap(ctx); err != nil {
			return nil, err
		}
	}
	p, err := s.compile(t.Task, t.Dir, t.Repo, t.Overrides)
	if err != nil {
		return nil, err
	}
	var gone error
	as := runner.Identity{ID: t.RunID, Worker: state.Worker{Detached: true, Attempt: t.Attempt, First: t.First, Compare: t.Compare}, Begun: func(d *state.RunDir) {
		gone = errors.Join(t.Remove(), t.Close()) // a sweep removes what is left
		begun(d)
	}}
	res, err := s.o.Runner.ExecuteAs(ctx, as, p, nil)
	if res != nil {
		return res, nil
	}
	return nil, errors.Join(err, gone)
}

// putBack decides what becomes of a task whose run did not begin: it waits again, or it is refused.
func (s *Service) putBack(ctx context.Context, t *queue.Taken, why error) error {
	ctx = context.WithoutCancel(ctx)
	var (
		busy    *document.BusyError
		stopped document.Interrupted
		err     error
	)
	switch {
	case errors.As(why, &busy), state.IsSessionBusy(why):
		t.Starts = 0
		t.NotBefore = time.Now().Add(busyPause)
		err = t.Rewrite(ctx)
	case errors.As(why, &stopped):
		t.Starts = 0
		err = t.Rewrite(ctx)
	default:
		err = refuse(ctx, t, why)
	}
	return errors.Join(err, t.Close())
}

// repeatPauses are the pauses before repetitions of a run that the machine failed.
var repeatPauses = []time.Duration{5 * time.Second, 25 * time.Second, 125 * time.Second}

// machineFailures are codes of runs that failed for reasons of the machine.
var machineFailures = []string{document.CodeEngineLost, document.CodeEngineFailed, document.CodeImageUnusable}

// repeat puts the task of a run back into the queue where the machine failed it before its agent began.
func (s *Service) repeat(ctx context.Context, e queue.Entry, res *document.Result) error {
	if res == nil || e.Attempt > s.o.Config.Serve.Retries || !failedByMachine(res) {
		return nil
	}
	first := e.RunID
	e.NotBefore = time.Now().Add(repeatPauses[min(max(e.Attempt, 1), len(repeatPauses))-1])
	e.RunID, e.Attempt, e.Starts = state.NewID(), e.Attempt+1, 0
	if e.First == "" {
		e.First = first
	}
	ctx = context.WithoutCancel(ctx)
	if _, _, err := s.queue().Enqueue(ctx, e, queue.Bounds{}); err != nil {
		return err
	}
	d, err := s.o.State.Run(first)
	if err != nil {
		return err
	}
	return d.Supersede(e.RunID)
}

func failedByMachine(res *document.Result) bool {
	if _, worked := res.Timing["agent"]; worked || res.Status != document.StatusFailed {
		return false
	}
	return slices.ContainsFunc(res.Issues, func(i document.Issue) bool { return slices.Contains(machineFailures, i.Code) })
}
