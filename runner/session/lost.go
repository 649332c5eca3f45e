package session

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

// Recover says which run of its session a dead one is, where it died after it had
// become one; nil where it did not. The turn holds no lock.
func Recover(st *state.State, id, run string) *Turn {
	doc, err := st.ReadSession(id)
	if err != nil {
		return nil // it never became part of one
	}
	at := slices.IndexFunc(doc.Runs, func(s state.SessionRun) bool { return s.RunID == run })
	if at < 0 {
		return nil
	}
	s := doc.Runs[at]
	turn := &Turn{doc: doc, earlier: doc.Runs[:at:at], retryOf: s.RetryOf}
	if s.Resumed {
		turn.conversation = s.Conversation
	}
	return turn
}

// Amend gives a run of a session the status of its result there. A session that is
// in use is left as it is.
func Amend(ctx context.Context, st *state.State, id, run string, status document.Status) error {
	dir, err := st.TakeSession(ctx, id)
	if busy := (*document.ConflictError)(nil); errors.As(err, &busy) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	doc, err := st.ReadSession(id)
	at := slices.IndexFunc(doc.Runs, func(s state.SessionRun) bool { return s.RunID == run })
	if err == nil && at >= 0 && doc.Runs[at].Status != status {
		doc.Runs[at].Status = status
		err = dir.Write(doc)
	}
	return errors.Join(err, dir.Close())
}
