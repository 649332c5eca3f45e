package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/runner"
	"sandboxrun/runner/document"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// Cancel asks for the end of a run, whatever phase it is in, and returns at once. Asking again changes nothing. The
// run keeps what was done so far in its patch, and lands nothing.
func (s *Service) Cancel(ctx context.Context, id string, c mailbox.Cancel) (view.RunView, error) {
	var v view.RunView
	// Between the queue and its first phase a run is somebody's for a moment: then it is one or the other.
	err := poll(ctx, pollGap, func() (done bool, err error) {
		if v, err = s.Run(ctx, id); err != nil {
			return false, err
		}
		if v.State == view.Queued {
			return s.cancelQueued(ctx, id, c)
		}
		begun, err := s.begun(id)
		return begun || v.State == view.Refused, err
	})
	if err != nil {
		return v, err
	}
	if v.State == view.Queued {
		return s.Run(ctx, id)
	}
	d, err := s.dir(id)
	if missing := (*Problem)(nil); v.State == view.Ended || v.State == view.Refused || errors.As(err, &missing) {
		return v, problem(CodeRunEnded, `"sandboxrun runs show" has its result`, "run %s has ended", id)
	}
	if err != nil {
		return v, err
	}
	if _, err := d.Mailbox().Cancel(c, time.Now()); err != nil {
		return v, fmt.Errorf("cancel run %s: %w", id, err)
	}
	return s.Run(ctx, id)
}

// cancelQueued gives a task that waits the result of a cancelled run; false where its process has just taken it. A task
// that can no longer be understood is refused instead.
func (s *Service) cancelQueued(ctx context.Context, id string, c mailbox.Cancel) (bool, error) {
	t, err := s.queue().Take(id)
	if err != nil || t == nil {
		return false, err
	}
	if begun, err := s.begun(id); err != nil || begun {
		return false, errors.Join(err, t.Close()) // its process died before it could remove the entry
	}
	p, err := s.compile(t.Task, t.Dir, t.Repo, t.Overrides)
	if err == nil {
		var gone error
		as := runner.Identity{ID: id, Worker: state.Worker{Detached: true, Attempt: t.Attempt, First: t.First, Compare: t.Compare}, Begun: func(*state.RunDir) {
			gone = t.Remove()
		}}
		if _, err = s.o.Runner.EndUnbegun(ctx, as, p, c); err == nil {
			return true, errors.Join(gone, t.Close())
		}
	}
	if begun, berr := s.begun(id); berr != nil || begun {
		return true, errors.Join(err, berr, t.Close()) // the run is settled as a cancelled one
	}
	why := &document.InputError{Message: document.Cancelled{By: c.By, Reason: c.Reason}.Error() + " before it began", Details: []document.Detail{{Message: err.Error()}}}
	return true, errors.Join(refuse(ctx, t, why), t.Close())
}

// CancelAll cancels every live run that came from the queue.
func (s *Service) CancelAll(ctx context.Context, c mailbox.Cancel) error {
	ids, err := s.o.State.Active()
	for _, id := range ids {
		d, derr := s.o.State.Run(id)
		if derr != nil {
			continue // ended since
		}
		if w, werr := d.Worker(); werr != nil || !w.Detached {
			continue // of a terminal
		}
		_, cerr := s.Cancel(ctx, id, c)
		if ended := (*Problem)(nil); !errors.As(cerr, &ended) {
			err = errors.Join(err, cerr)
		}
	}
	return err
}
