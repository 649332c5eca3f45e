package service

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
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
	// Begins says that the task begins a session: one that exists is refused.
	Begins bool
	// Compare is the id that runs of one task by several agents share, "" for others.
	Compare string
}

// Submit accepts a task. When it returns, the task gets exactly one result, or one error document, whatever dies. The
// same task under the same task_id is accepted once. Nothing is created for a task that cannot be run: errors are
// those of the runner before a run, or *Problem.
// existing says that the run was there before.
func (s *Service) Submit(ctx context.Context, sub Submission) (v view.RunView, existing bool, err error) {
	e, run, err := s.examine(ctx, sub)
	if existing = run != ""; err == nil && !existing {
		run, existing, err = s.enqueue(ctx, e)
	}
	if err != nil {
		return v, false, submitProblem(err)
	}
	s.kick(ctx)
	v, err = s.Run(ctx, run)
	return v, existing, err
}

// SubmitAll accepts all tasks, or none: they are examined before the first is accepted, and those accepted are
// withdrawn where a later one finds no place. Errors are those of Submit, and at is the number of the task, from 0.
func (s *Service) SubmitAll(ctx context.Context, subs []Submission) (views []view.RunView, at int, err error) {
	entries := make([]queue.Entry, 0, len(subs))
	for i, sub := range subs {
		e, run, err := s.examine(ctx, sub)
		if err == nil && run != "" {
			err = problem(CodeTaskReused, "leave task_id out", "task_id %q stands for run %s", e.TaskID, run)
		}
		if err != nil {
			return nil, i, submitProblem(err)
		}
		entries = append(entries, e)
	}
	for i, e := range entries {
		if _, _, err := s.enqueue(ctx, e); err != nil {
			for _, earlier := range entries[:i] {
				err = errors.Join(err, s.Withdraw(context.WithoutCancel(ctx), earlier.RunID))
			}
			return nil, i, submitProblem(err)
		}
	}
	s.kick(ctx)
	for i, e := range entries {
		v, err := s.Run(ctx, e.RunID)
		if err != nil {
			return nil, i, err
		}
		views = append(views, v)
	}
	return views, 0, nil
}

// examine makes an entry of a task, and checks whether it can be run. run is the run that the same task has already.
func (s *Service) examine(ctx context.Context, sub Submission) (e queue.Entry, run string, err error) {
	p, err := s.compile(sub.Task, sub.Dir, sub.Repo, sub.Overrides)
	if err != nil {
		return e, "", err
	}
	e = queue.Entry{SchemaVersion: queue.Version, RunID: state.NewID(), TaskID: p.TaskID, RepoRoot: p.RepoRoot, SessionID: p.Session, Objective: p.Objective,
		LimitSeconds: p.MaxRuntimeSeconds, Task: sub.Task, Dir: sub.Dir, Repo: sub.Repo, Overrides: sub.Overrides, By: sub.By, AcceptedAt: time.Now().UTC(), Attempt: 1,
		Compare: sub.Compare}
	if p.Agent != nil {
		e.Agent, e.Variant = p.Agent.Name, p.Agent.Variant
	}
	if run, err = s.queue().Known(ctx, e); err != nil || run != "" {
		return e, run, err
	}
	if sub.Begins {
		if err := s.unused(ctx, p.Session); err != nil {
			return e, "", err
		}
	}
	return e, "", s.o.Runner.Check(ctx, p)
}

func (s *Service) enqueue(ctx context.Context, e queue.Entry) (run string, existing bool, err error) {
	return s.queue().Enqueue(ctx, e, queue.Bounds{All: s.o.Config.Serve.Queue, PerRepo: perRepo})
}

// unused refuses a session that has runs, or that a task has already.
func (s *Service) unused(ctx context.Context, session string) error {
	doc, err := s.o.State.ReadSession(session)
	if err == nil && len(doc.Runs) > 0 {
		return problem(CodeConflict, "send a follow-up, or leave session_id out", "session %q exists", excerpt.Clip(session, 64))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.idle(ctx, session)
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
