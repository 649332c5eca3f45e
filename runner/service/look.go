package service

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/queue"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// Run shows one run, also one that waits in the queue.
func (s *Service) Run(_ context.Context, id string) (view.RunView, error) {
	// The queue is looked at first: an entry is removed only when its run has begun.
	e, err := s.queue().Get(id)
	if err == nil {
		if begun, berr := s.begun(id); berr != nil || !begun {
			return s.waiting(e, nil), berr
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return view.RunView{}, err
	}
	v, err := view.Of(s.o.State, id)
	if errors.Is(err, fs.ErrNotExist) {
		return v, notFound(id)
	}
	return v, err
}

// Refusal is the error document of a task that was accepted and could not be begun; nil for others.
func (s *Service) Refusal(id string) ([]byte, error) {
	e, err := s.queue().Get(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return e.Refused, err
}

// Queued shows the tasks that have no run yet, the oldest first, refused ones included.
func (s *Service) Queued() ([]view.RunView, error) {
	list, err := s.queue().List()
	if err != nil {
		return nil, err
	}
	views := []view.RunView{}
	for _, e := range list {
		begun, err := s.begun(e.RunID)
		if err != nil {
			return nil, err
		}
		if !begun {
			views = append(views, s.waiting(e, list))
		}
	}
	return views, nil
}

// begun reports whether a run is sure to get a result: it has a plan.
func (s *Service) begun(id string) (bool, error) {
	d, err := s.o.State.Run(id)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = os.Stat(d.Path("plan.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// waiting shows an entry of the queue, which list has; nil to read it.
func (s *Service) waiting(e queue.Entry, list []queue.Entry) view.RunView {
	v := view.RunView{RunID: e.RunID, TaskID: e.TaskID, State: view.Queued, Summary: e.Objective, Objective: e.Objective, RepoRoot: e.RepoRoot,
		WorkspaceID: view.WorkspaceID(e.RepoRoot), Agent: e.Agent, Variant: e.Variant, Model: e.Overrides.Model, SessionID: e.SessionID,
		StartedAt: e.AcceptedAt, LimitSeconds: e.LimitSeconds, Issues: []string{}, Attempts: max(1, e.Attempt), CompareID: e.Compare}
	if v.TaskID == "" {
		v.TaskID = e.RunID
	}
	if !e.Waits() {
		v.State, v.EndedAt = view.Refused, &e.RefusedAt
		return v
	}
	if held, err := s.queue().Held(e.RunID); err == nil && held {
		v.State = view.Starting
		return v
	}
	if list == nil {
		list, _ = s.queue().List() // without the list the place is unknown, which is told as 0
	}
	place := view.Place{WaitingFor: "a place among the runs"}
	for _, other := range list {
		if !other.Waits() {
			continue
		}
		if other.RunID <= e.RunID {
			place.Position++
		}
		if e.SessionID != "" && other.SessionID == e.SessionID && other.RunID < e.RunID {
			place.WaitingFor = "an earlier task of its session"
		}
	}
	if time.Now().Before(e.NotBefore) {
		place.WaitingFor = "the pause before it is repeated"
	}
	v.Queued = &place
	return v
}

// maxObjective bounds the objective that is made of a prompt, in bytes.
const maxObjective = 200

// Objective is the first sentence of a prompt, as the objective of its task.
func Objective(prompt string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	if sentence, _, more := strings.Cut(first, ". "); more {
		first = sentence + "."
	}
	return excerpt.Clip(first, maxObjective)
}

// idle refuses a session with an active run, or with a task that waits.
func (s *Service) idle(ctx context.Context, session string) error {
	list, err := s.queue().List()
	if err != nil {
		return err
	}
	busy := &Problem{Code: CodeSessionBusy, Err: state.SessionBusy(session)}
	for _, e := range list {
		if e.Waits() && e.SessionID == session {
			return busy
		}
	}
	d, err := s.o.State.TakeSession(ctx, session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if state.IsSessionBusy(err) {
		return busy
	}
	if err != nil {
		return err
	}
	return d.Close()
}
