package runner

import (
	"context"
	"errors"
	"io/fs"
	"slices"
)

// recoverSession says which run of its session the dead one is, where it died
// after it had become one.
func (x *run) recoverSession() {
	if x.plan.Session == "" {
		return
	}
	doc, err := x.r.o.State.readSession(x.plan.Session)
	if err != nil {
		return // it never became part of one
	}
	for i, s := range doc.Runs {
		if s.RunID == x.id {
			turn := &sessionTurn{doc: doc, line: doc.Runs[:i:i], retryOf: s.RetryOf}
			if s.Resumed {
				turn.talk = s.Conversation
			}
			x.session = turn
		}
	}
}

// amendSession lets the session say of a run that had become part of it what
// the run's result says. A session that is in use is left as it is.
func (x *run) amendSession(ctx context.Context, status Status) error {
	if x.session == nil {
		return nil
	}
	dir, err := x.r.o.State.takeSession(ctx, x.plan.Session)
	if busy := (*ConflictError)(nil); errors.As(err, &busy) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	doc, err := x.r.o.State.readSession(x.plan.Session)
	at := slices.IndexFunc(doc.Runs, func(s SessionRun) bool { return s.RunID == x.id })
	if err == nil && at >= 0 && doc.Runs[at].Status != status {
		doc.Runs[at].Status = status
		err = dir.write(doc)
	}
	return errors.Join(err, dir.close())
}
