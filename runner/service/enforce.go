package service

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

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
