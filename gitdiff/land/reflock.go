package land

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/internal/step"
)

// refLockWait is how long the lock of a branch is tried for; git's own default (core.filesRefLockTimeout) is a tenth of it.
const refLockWait = time.Second

// Steps of making the branch. [Landing.Journal] receives StepRefLock and StepRef, with the subject of StepStage.
var (
	StepRefDraft = step.Define("land/draft")
	StepRefLock  = step.Define("land/lock")
	StepRef      = step.Define("land/ref")
)

// createRef makes a branch that points to a commit, by git's own protocol for a loose reference: a lock file made with
// O_EXCL, a check of what exists while it is held, and a rename. No reflog is written and nothing else is touched.
func createRef(ctx context.Context, r *gitdiff.Repo, branch, commit string, journal step.Journal) (err error) {
	path := filepath.Join(r.CommonDir(), branch)
	as, err := likeDir(filepath.Join(r.CommonDir(), "refs", "heads"))
	if err != nil {
		return err
	}
	subject := landingSubject(commit, branch)
	done := journal.Begin(StepRefLock, subject)
	err = lockRef(ctx, path, commit, as)
	done(err)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path+".lock"))
		}
	}()
	if err = checkRef(r, branch); err != nil {
		return err
	}
	if err = removeEmpty(path); err != nil {
		return err
	}
	done = journal.Begin(StepRef, subject)
	err = renameNew(path+".lock", path)
	done(err)
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// lockRef makes the lock file of a reference and the directories above it, which git may remove at any time when empty.
// The lock appears with its content, so that it can be attributed after a crash.
func lockRef(ctx context.Context, path, commit string, as dirLike) error {
	deadline := time.NewTimer(refLockWait)
	defer deadline.Stop()
	again := time.NewTicker(refLockWait / 20)
	defer again.Stop()
	for {
		if err := as.mkdir(filepath.Dir(path)); err != nil {
			return err
		}
		step.Before(StepRefDraft)
		draft, err := writeDraft(path, commit, as)
		step.After(StepRefDraft)
		if err == nil {
			err = errors.Join(os.Link(draft, path+".lock"), os.Remove(draft))
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist):
			err = fmt.Errorf("%w: %s", ErrRefLocked, path+".lock")
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-deadline.C:
			return err
		case <-again.C:
		}
	}
}

// writeDraft writes the file that becomes the lock.
func writeDraft(path, commit string, as dirLike) (draft string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), lockDraft(filepath.Base(path), commit))
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(commit + "\n")
	if err == nil {
		err = as.own(f, as.mode&0o666)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("write lock: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return f.Name(), nil
}

// renameNew renames a file to an unused name; the lock keeps other git processes from using it.
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
