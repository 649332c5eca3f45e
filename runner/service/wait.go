package service

import (
	"context"
	"fmt"
	"time"

	"sandboxrun/runner/view"
)

// Outcome is how a run ended: with a result, or with an error document in place of one.
type Outcome struct {
	View    view.RunView
	Result  []byte // the stored document
	Refused []byte
}

// waitGap is how often a run that is waited for is looked at, and kickGap how often the queue is.
const (
	waitGap = 100 * time.Millisecond
	kickGap = time.Second
)

// Wait returns when a run has ended. Where the run was repeated, it waits for the repetition. A run whose process died
// is settled meanwhile.
func (s *Service) Wait(ctx context.Context, id string) (Outcome, error) {
	var out Outcome
	kicked := time.Now()
	err := poll(ctx, waitGap, func() (done bool, err error) {
		if out.View, err = s.Run(ctx, id); err != nil {
			return false, err
		}
		if time.Since(kicked) > kickGap {
			s.kick(ctx)
			kicked = time.Now()
		}
		switch out.View.State {
		case view.Ended:
			if next := out.View.SupersededBy; next != "" {
				id = next
				return false, nil
			}
			d, err := s.dir(id)
			if err != nil {
				return false, err
			}
			out.Result, err = d.Result()
			return true, err
		case view.Refused:
			e, err := s.queue().Get(id)
			out.Refused = e.Refused
			return true, err
		case view.Crashed:
			return false, s.settle(ctx, id)
		case view.Queued, view.Starting, view.Running:
		}
		return false, nil
	})
	return out, err
}

// Begun returns when a run has left the queue: it runs, has ended, or was refused.
func (s *Service) Begun(ctx context.Context, id string) (view.RunView, error) {
	var v view.RunView
	err := poll(ctx, waitGap, func() (done bool, err error) {
		v, err = s.Run(ctx, id)
		return v.State != view.Queued && v.State != view.Starting, err
	})
	if err != nil {
		return v, fmt.Errorf("wait for run %s: %w", id, err)
	}
	return v, nil
}
