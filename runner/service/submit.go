package service

import (
	"context"
	"errors"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/queue"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// Submission is a task to be run by a process of its own.
type Submission struct {
	Task      []byte // one task document
	Dir       string // that its repo_root may be relative to, "" where it must be absolute
	Repo      string // takes the place of its repo_root, "" for none
	Overrides plan.Overrides
	By        string // who sent it, for people
}

// Submit accepts a task. When it returns, the task gets exactly one result, or one error document, whatever dies. The
// same task under the same task_id is accepted once. Nothing is created for a task that cannot be run: errors are
// those of the runner before a run, or *Problem.
// existing says that the run was there before.
func (s *Service) Submit(ctx context.Context, sub Submission) (v view.RunView, existing bool, err error) {
	p, err := s.compile(sub.Task, sub.Dir, sub.Repo, sub.Overrides)
	if err != nil {
		return v, false, err
	}
	e := queue.Entry{SchemaVersion: queue.Version, RunID: state.NewID(), TaskID: p.TaskID, RepoRoot: p.RepoRoot, SessionID: p.Session, Objective: p.Objective,
		LimitSeconds: p.MaxRuntimeSeconds, Task: sub.Task, Dir: sub.Dir, Repo: sub.Repo, Overrides: sub.Overrides, By: sub.By, AcceptedAt: time.Now().UTC(), Attempt: 1}
	if p.Agent != nil {
		e.Agent, e.Variant = p.Agent.Name, p.Agent.Variant
	}
	run, err := s.queue().Known(ctx, e)
	if existing = run != ""; err == nil && !existing {
		if err = s.o.Runner.Check(ctx, p); err == nil {
			run, existing, err = s.queue().Enqueue(ctx, e, queue.Bounds{All: s.o.Config.Serve.Queue, PerRepo: perRepo})
		}
	}
	if err != nil {
		return v, false, submitProblem(err)
	}
	s.kick(ctx)
	v, err = s.Run(ctx, run)
	return v, existing, err
}

func (s *Service) compile(task []byte, dir, repo string, o plan.Overrides) (*plan.Plan, error) {
	t, err := document.DecodeFrom(task, dir, repo)
	if err != nil {
		return nil, err
	}
	return plan.Compile(t, s.o.Config, o)
}

func submitProblem(err error) error {
	var (
		full   *queue.FullError
		reused *queue.ReusedError
	)
	switch {
	case errors.As(err, &full):
		return &Problem{Code: CodeQueueFull, Err: &document.BusyError{Reason: full.Reason}}
	case errors.As(err, &reused) && reused.Forgotten:
		return problem(CodeForgotten, "send the task under another task_id", "%v", reused)
	case errors.As(err, &reused):
		return problem(CodeTaskReused, "send the task under another task_id", "%v", reused)
	}
	return err
}

// Withdraw takes a task that has not begun out of the queue, so that nothing of it runs later.
func (s *Service) Withdraw(ctx context.Context, id string) error {
	t, err := s.queue().Take(id)
	if err != nil {
		return err
	}
	if t == nil {
		if _, err := s.Run(ctx, id); err != nil {
			return err
		}
		return problem(CodeBegun, "", "run %s has begun", id)
	}
	return errors.Join(t.Forget(), t.Remove(), t.Close())
}

// refuse gives a task that waits an error document in place of a result.
func refuse(ctx context.Context, t *queue.Taken, why error) error {
	err := t.Forget()
	t.Refused, _ = document.EncodeError(why)
	t.RefusedAt = time.Now().UTC()
	return errors.Join(err, t.Rewrite(ctx))
}
