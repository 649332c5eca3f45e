package service

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// Patience is how long a cancelled run may take before its process is ended.
type Patience struct {
	Terminate time.Duration // then the process gets SIGTERM
	Kill      time.Duration // after that, it is killed
}

// DefaultPatience is longer than a run takes to remove its boxes and to capture what they left.
var DefaultPatience = Patience{Terminate: 20 * time.Second, Kill: 30 * time.Second}

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

// Enforce waits until a cancelled run has ended, and ends the process of one that does not: first with SIGTERM, then
// with SIGKILL, and then it settles the run. A run that nobody cancelled is left alone.
func (s *Service) Enforce(ctx context.Context, id string) error {
	d, err := s.dir(id)
	if missing := (*Problem)(nil); errors.As(err, &missing) {
		return nil // it was cancelled before it began
	}
	if err != nil {
		return err
	}
	var told syscall.Signal
	err = poll(ctx, pollGap, func() (bool, error) {
		live, err := d.Live()
		if err != nil || !live {
			return true, err
		}
		told, err = s.press(d, time.Now(), told)
		return false, err
	})
	if err != nil {
		return fmt.Errorf("cancel run %s: %w", id, err)
	}
	return s.settle(ctx, id)
}

// press sends the process of a cancelled run the signal that is due, and returns the last one sent.
func (s *Service) press(d *state.RunDir, now time.Time, told syscall.Signal) (syscall.Signal, error) {
	c, asked, err := d.Mailbox().Cancelled()
	if err != nil || !asked {
		return told, err
	}
	due := syscall.Signal(0)
	switch late := now.Sub(c.At); {
	case late >= s.o.Patience.Terminate+s.o.Patience.Kill:
		due = syscall.SIGKILL
	case late >= s.o.Patience.Terminate:
		due = syscall.SIGTERM
	}
	if due == 0 || due == told {
		return told, nil
	}
	w, err := d.Worker()
	if err != nil {
		return told, err
	}
	if due == syscall.SIGTERM { // of several who cancel and watch, one sends it
		if first, err := d.Mailbox().Press(now); err != nil || !first {
			return due, err
		}
	}
	// A process that ended meanwhile is what was wanted.
	if err := w.Signal(due); err != nil && !errors.Is(err, state.ErrOtherProcess) {
		return told, err
	}
	return due, nil
}

// settle gives a run whose process died its result.
func (s *Service) settle(ctx context.Context, id string) error {
	v, err := s.Run(ctx, id)
	if err != nil || v.State != view.Crashed {
		return err
	}
	_, err = s.o.Runner.Reap(ctx)
	return err
}
