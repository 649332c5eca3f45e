package gitdiff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// refLockWait is how long the lock of a branch is tried for; git's own default (core.filesRefLockTimeout) is a tenth of it.
const refLockWait = time.Second

// createRef makes a branch that points to a commit, by git's own protocol for a loose reference: a lock file made with
// O_EXCL, a look at what is there while it is held, and a rename. No reflog is written and nothing else is touched.
func (r *Repo) createRef(ctx context.Context, branch, commit string) (err error) {
	path := filepath.Join(r.commonDir, branch)
	as, err := likeDir(filepath.Join(r.commonDir, "refs", "heads"))
	if err != nil {
		return err
	}
	lock, err := r.lockRef(ctx, path, as)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path+".lock"))
		}
	}()
	_, err = lock.WriteString(commit + "\n")
	if err == nil {
		err = as.own(lock, as.mode&0o666)
	}
	if err == nil {
		err = lock.Sync()
	}
	if err = errors.Join(err, lock.Close()); err != nil {
		return fmt.Errorf("write lock: %w", err)
	}
	if err = r.checkRef(branch); err != nil {
		return err
	}
	if err = removeEmpty(path); err != nil {
		return err
	}
	if err = renameNew(path+".lock", path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// lockRef makes the lock file of a reference and the directories above it, which git may remove at any time when empty.
func (r *Repo) lockRef(ctx context.Context, path string, as dirLike) (*os.File, error) {
	deadline := time.NewTimer(refLockWait)
	defer deadline.Stop()
	again := time.NewTicker(refLockWait / 20)
	defer again.Stop()
	for {
		if err := as.mkdir(filepath.Dir(path)); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, fs.ErrExist):
			err = fmt.Errorf("%w: %s", ErrRefLocked, path+".lock")
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-deadline.C:
			return nil, err
		case <-again.C:
		}
	}
}

// renameNew renames a file to a name nobody has, which the lock promises among those who heed it.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	switch {
	case errors.Is(err, unix.EEXIST):
		return ErrRefExists
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS): // a file system or kernel without the flag
		return os.Rename(from, to)
	case err != nil:
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// removeEmpty removes a directory in the place of a reference and the directories in it; they hold no files.
func removeEmpty(path string) error {
	var dirs []string
	err := filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			dirs = append(dirs, p)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for i := len(dirs) - 1; i >= 0 && err == nil; i-- {
		err = os.Remove(dirs[i])
	}
	return err
}
