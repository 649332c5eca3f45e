package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// Only the runner of a run holds its lock, for as long as it lives: the kernel releases it however the runner ends. (A
// file with a process id would be wrong after a reboot.)

// newLock creates the lock file and takes the lock.
func newLock(path string) (*flock.Flock, error) {
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	return take(l, path)
}

// errLocked says that another runner holds the lock.
var errLocked = errors.New("is locked by a live runner")

// takeLock takes the existing lock of a dead run.
func takeLock(path string) (*flock.Flock, error) {
	return take(flock.New(path, flock.SetFlag(os.O_RDWR)), path)
}

func take(l *flock.Flock, path string) (*flock.Flock, error) {
	got, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock run: %w", err)
	}
	if !got {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: path, Err: errLocked}, l.Close())
	}
	return l, nil
}

// locked reports whether the lock is held. It takes a shared lock, so that two callers do not mistake each other for
// the runner. A missing lock is free.
func locked(path string) (bool, error) {
	l := flock.New(path, flock.SetFlag(os.O_RDWR))
	free, err := l.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check run's lock: %w", err)
	}
	return !free, l.Close()
}
