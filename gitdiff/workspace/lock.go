package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is the time between attempts to take a lock that is held.
const lockPoll = 50 * time.Millisecond

// lockFile is a held flock(2) on a file. The kernel drops it when its process ends, however it ends. The modification
// time of the file says when it was last held.
type lockFile struct{ f *flock.Flock }

// lock waits for a lock on path, shared or exclusive, and makes the file where needed. A holder of the exclusive lock may
// delete the file: a lock on a deleted file is worth nothing, so the file is inspected again once it is locked.
func lock(ctx context.Context, path string, shared bool) (*lockFile, error) {
	for {
		f := flock.New(path, flock.SetPermissions(0o600))
		take := f.TryLockContext
		if shared {
			take = f.TryRLockContext
		}
		if _, err := take(ctx, lockPoll); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		l := &lockFile{f}
		if current, err := l.current(path); err != nil || current {
			return l, err
		}
		if err := f.Unlock(); err != nil {
			return nil, err
		}
	}
}

// tryLock takes the exclusive lock on an existing file, or returns nil when it is held or does not exist.
func tryLock(path string) (*lockFile, error) {
	f := flock.New(path, flock.SetFlag(os.O_RDWR))
	got, err := f.TryLock()
	if errors.Is(err, os.ErrNotExist) || err == nil && !got {
		return nil, f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	l := &lockFile{f}
	if current, err := l.current(path); err != nil || !current {
		return nil, errors.Join(err, f.Unlock())
	}
	return l, nil
}

// current reports whether the locked file still is the one at path; it releases the lock on an error.
func (l *lockFile) current(path string) (bool, error) {
	held, err := l.f.Stat()
	if err != nil {
		return false, errors.Join(err, l.f.Unlock())
	}
	there, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, errors.Join(err, l.f.Unlock())
	}
	return os.SameFile(held, there), nil
}

// touch records that the lock is held now.
func (l *lockFile) touch() error {
	now := time.Now()
	return os.Chtimes(l.f.Path(), now, now)
}

// unlock releases the lock.
func (l *lockFile) unlock() error { return l.f.Unlock() }

// remove deletes the file and releases the exclusive lock.
func (l *lockFile) remove() error { return errors.Join(os.Remove(l.f.Path()), l.f.Unlock()) }
