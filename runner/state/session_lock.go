package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"

	"github.com/gofrs/flock"
)

const (
	// lockPatience is how long a session's lock is tried: longer than a reader holds it, shorter than a person
	// notices.
	lockPatience = 300 * time.Millisecond
	lockGap      = 10 * time.Millisecond
	// lockAttempts bounds how often a session may be removed while its lock is awaited.
	lockAttempts = 5
)

// TakeSession locks a session for one run. The error is fs.ErrNotExist where there is no such session, and a
// *ConflictError where it is in use.
func (s *State) TakeSession(ctx context.Context, id string) (*SessionDir, error) {
	return s.lockSession(ctx, id, os.O_RDWR, func() error { return nil })
}

// MakeSession is TakeSession for a session that may not exist yet.
func (s *State) MakeSession(ctx context.Context, id string) (*SessionDir, error) {
	return s.lockSession(ctx, id, os.O_RDWR|os.O_CREATE, func() error { return os.MkdirAll(s.sessionHome(id), 0o700) })
}

func (s *State) lockSession(ctx context.Context, id string, flag int, prepare func() error) (*SessionDir, error) {
	for range lockAttempts {
		if err := prepare(); err != nil {
			return nil, fmt.Errorf("open session %s: %w", id, err)
		}
		l := flock.New(s.sessionLock(id), flock.SetFlag(flag), flock.SetPermissions(0o600))
		ours, err := tryLock(ctx, l)
		if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
			continue // removed between the two steps
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock session %s: %w", id, err), l.Close())
		}
		if !ours {
			return nil, errors.Join(SessionBusy(id), l.Close())
		}
		if same, err := s.holds(id, l); same || err != nil {
			if err != nil {
				return nil, errors.Join(fmt.Errorf("lock session %s: %w", id, err), l.Close())
			}
			return &SessionDir{state: s, id: id, lock: l}, nil
		}
		if err := l.Close(); err != nil {
			return nil, fmt.Errorf("lock session %s: %w", id, err)
		}
	}
	return nil, SessionBusy(id)
}

func tryLock(ctx context.Context, l *flock.Flock) (bool, error) {
	wait, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	ours, err := l.TryLockContext(wait, lockGap)
	if err != nil && wait.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	return ours, err
}

// holds reports whether the lock is that of the session's directory: a session may be removed while its lock is
// awaited.
func (s *State) holds(id string, l *flock.Flock) (bool, error) {
	mine, err := l.Stat()
	if err != nil {
		return false, err
	}
	here, err := os.Stat(s.sessionLock(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, here), err
}

// busyMessage tells a session with an active run from other conflicts.
const busyMessage = "session is busy"

// IsSessionBusy reports whether err is that of a session with an active run: it passes by itself.
func IsSessionBusy(err error) bool {
	conflict, ok := errors.AsType[*document.ConflictError](err)
	return ok && conflict.Message == busyMessage
}

// SessionBusy is the error of a session with an active run.
func SessionBusy(id string) error {
	return &document.ConflictError{InputError: &document.InputError{
		Message: busyMessage, Details: []document.Detail{{Path: "/session_id", Message: fmt.Sprintf("session %q has an active run", excerpt.Clip(id, 64))}},
		Hint: "wait for it or stop it; \"sandboxrun runs list\" shows it",
	}}
}
