// Package program keeps the file of a running program for as long as a run needs it. Every box of a run has that file
// as its main process; a program that is replaced on disk meanwhile changes no run that has begun.
package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"sandboxrun/internal/step"
)

var (
	stepPin   = step.Define("program/pin")
	stepUnpin = step.Define("program/unpin")
)

// Running is the file this process was started from, also after another file has taken its name.
const Running = "/proc/self/exe"

// newPrefix begins the name of a copy that is not complete.
const newPrefix = ".new-"

// lockSuffix ends the name of the lock of a pinned file. The file itself cannot be the lock: it may be a hard link to a
// program that other directories have pinned as well.
const lockSuffix = ".lock"

// pinAttempts bounds how often a pinned file may be removed by its last user while another process pins it.
const pinAttempts = 20

// Pinned is a program's file below a directory of pinned programs. The kernel releases its lock with the process that
// holds it: a file whose lock is free is used by no live run.
type Pinned struct {
	path, id string
	lock     *os.File // holds a shared lock; nil where the file could not be kept
}

// Pin makes file appear below dir under the identity of its build, as a hard link where that is possible and else as a
// copy, and keeps it there until Release. Several processes may pin the same file. Where the disk has no room for a copy,
// the file stays where it is: what replaces it there has an effect, but a full disk alone must not end a run.
func Pin(dir, file string) (_ *Pinned, err error) {
	src, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("pin program: %w", err)
	}
	defer func() { _ = src.Close() }() // nothing was written
	id, err := buildID(src)
	if err != nil {
		return nil, fmt.Errorf("pin program: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("pin program: %w", err)
	}
	path := filepath.Join(dir, id)
	for range pinAttempts {
		// The exclusive holder only removes the file, so the wait is short.
		l, err := openLock(path, unix.LOCK_SH)
		if err != nil {
			return nil, fmt.Errorf("pin program: %w", err)
		}
		if l == nil {
			continue
		}
		p := &Pinned{path: path, id: id, lock: l}
		step.Before(stepPin)
		err = place(src, path)
		step.After(stepPin)
		if err != nil {
			rerr := p.Release()
			if at := nameOf(src); at != "" && rerr == nil && (errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)) {
				return &Pinned{path: at, id: id}, nil
			}
			return nil, fmt.Errorf("pin program: %w", errors.Join(err, rerr))
		}
		return p, nil
	}
	return nil, fmt.Errorf("pin program: %s was removed %d times meanwhile", path, pinAttempts)
}

// openLock locks the pinned file at path, which need not exist yet; nil without an error when the lock was removed while
// it was awaited.
func openLock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path+lockSuffix, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f, how); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if same, err := isAt(f, path+lockSuffix); err != nil || !same {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Path is where the file is until Release; "" of a nil Pinned.
func (p *Pinned) Path() string {
	if p == nil {
		return ""
	}
	return p.path
}

// Build identifies the build of the program; "" of a nil Pinned.
func (p *Pinned) Build() string {
	if p == nil {
		return ""
	}
	return p.id
}

// Release gives the file up, and removes it when no other process holds it. A nil Pinned holds nothing.
func (p *Pinned) Release() error {
	if p == nil || p.lock == nil {
		return nil
	}
	err := lock(p.lock, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		err = remove(p.lock, p.path)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = nil
	}
	return errors.Join(err, p.lock.Close())
}

// Sweep removes every file of dir that no live process holds, incomplete copies included.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var errs []error
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), newPrefix) {
			err = sweepCopy(path)
		} else {
			err = sweepPinned(strings.TrimSuffix(path, lockSuffix))
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sweep pinned programs: %w", err)
	}
	return nil
}

func sweepPinned(path string) error {
	l, err := openLock(path, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || err == nil && l == nil {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(remove(l, path), l.Close())
}

// sweepCopy removes a copy whose writer is dead.
func sweepCopy(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = lock(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		err = unlink(path)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// remove removes a pinned file and its lock, which the caller holds alone.
func remove(l *os.File, path string) error {
	if same, err := isAt(l, path+lockSuffix); err != nil || !same {
		return err
	}
	step.Before(stepUnpin)
	defer step.After(stepUnpin)
	if err := unlink(path); err != nil {
		return err
	}
	return unlink(path + lockSuffix)
}

func unlink(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// isAt reports whether the open file is the one at path.
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

func lock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
