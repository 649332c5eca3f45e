package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"sandboxrun/internal/publish"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

// rewriteSuffix ends the name of a new version of an entry that is not complete.
const rewriteSuffix = ".rewrite"

// Taken is an entry whose lock is held: nobody else starts, withdraws or changes it. The kernel releases the lock with
// the process.
type Taken struct {
	Entry
	q    Queue
	file *os.File
}

// Take locks the entry of a run; nil without an error where there is none, or another process holds it.
func (q Queue) Take(run string) (*Taken, error) {
	if !state.ValidRunID(run) {
		return nil, nil
	}
	f, err := os.OpenFile(q.path(run), os.O_RDWR|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("take task from queue: %w", err)
	}
	ok, err := tryLock(f)
	if ok && err == nil {
		ok, err = isAt(f, q.path(run))
	}
	if !ok || err != nil {
		return nil, errors.Join(err, f.Close())
	}
	e, err := q.Get(run)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Taken{Entry: e, q: q, file: f}, nil
}

// Held reports whether a process holds the entry of a run.
func (q Queue) Held(run string) (bool, error) {
	f, err := os.Open(q.path(run))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at queue: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// Rewrite stores the entry as it is now. The new file is locked before it gets the name.
func (t *Taken) Rewrite(ctx context.Context) (err error) {
	data, err := document.Encode(t.Entry)
	if err != nil {
		return fmt.Errorf("write queue: %w", err)
	}
	queueLock, err := t.q.lockQueue(ctx) // or a sweep would take the new file for that of a dead process
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, queueLock.Close()) }()
	tmp := filepath.Join(t.q.dir(), publish.HalfPrefix+t.RunID+rewriteSuffix)
	step.Before(stepRewrite)
	defer step.After(stepRewrite)
	if err := writeFile(tmp, data); err != nil {
		return errors.Join(fmt.Errorf("write queue: %w", err), os.Remove(tmp))
	}
	f, err := os.OpenFile(tmp, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("write queue: %w", err)
	}
	if _, err = tryLock(f); err == nil {
		err = os.Rename(tmp, t.q.path(t.RunID))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write queue: %w", err), f.Close(), os.Remove(tmp))
	}
	old := t.file
	t.file = f
	return errors.Join(old.Close(), syncDir(t.q.dir()))
}

// Remove takes the entry out of the queue.
func (t *Taken) Remove() error {
	step.Before(stepRemove)
	defer step.After(stepRemove)
	if err := os.Remove(t.q.path(t.RunID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove task from queue: %w", err)
	}
	return nil
}

// Forget releases the task id of an entry that never became a run, so that the task may be sent again.
func (t *Taken) Forget() error { return t.q.release(t.RunID, t.q.path(t.RunID)) }

// Close releases the lock.
func (t *Taken) Close() error { return t.file.Close() }

func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func isAt(f *os.File, path string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	here, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, here), err
}
