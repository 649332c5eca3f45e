package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/mailbox"
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

// cancelQueued refuses a task that waits; false where its process has just taken it.
func (s *Service) cancelQueued(ctx context.Context, id string, c mailbox.Cancel) (bool, error) {
	t, err := s.queue().Take(id)
	if err != nil || t == nil {
		return false, err
	}
	why := &document.InputError{Message: document.Cancelled{By: c.By, Reason: c.Reason}.Error() + " before it began"}
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
