package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// makeOverlay makes the upper layer of a workspace hold exactly what differs between the base and tree.
func makeOverlay(ctx context.Context, w *Workspace, tree plumbing.Hash, own owner) error {
	for _, dir := range append(w.lower(), w.root, w.workDir()) {
		if strings.ContainsAny(dir, ",:\\") {
			return fmt.Errorf("%s: an overlay cannot be mounted on a path with a comma, colon or backslash", dir)
		}
	}
	if err := privateDir(w.root, own); err != nil {
		return err
	}
	if err := w.tag(); err != nil {
		return err
	}
	if err := takeWorkDir(w.objects.Store(), w.workDir(), own); err != nil {
		return err
	}
	d, err := gitobj.DeltaOf(ctx, w.objects.Storer(), w.baseTree, tree)
	if err != nil {
		return err
	}
	c := &checkout{from: w.objects.Storer(), owner: own, mtime: func(*gitobj.File) time.Time { return time.Time{} }}
	if err := c.run(ctx, w.root, d.Files, true); err != nil {
		return err
	}
	return hide(w.root, d, own, w.marks)
}

// tag chooses the marks of an upper layer: those with which the box can rename directories of the base, where this process can read
// them. All layers of one mount have the same.
func (w *Workspace) tag() error {
	if w.spec.Over != nil {
		if w.marks = w.spec.Over.marks; w.marks == capture.UserMarks {
			return nil
		}
		return setTag(w.root)
	}
	w.marks = capture.TrustedMarks
	err := setTag(w.root)
	if unreadable(err) {
		w.marks, err = capture.UserMarks, nil
	}
	return err
}

func setTag(dir string) error {
	if err := unix.Setxattr(dir, capture.Tag, []byte("y"), 0); err != nil {
		return fmt.Errorf("tag %s: %w", dir, &os.SyscallError{Syscall: "setxattr", Err: err})
	}
	return nil
}

// unreadable reports whether an attribute that only root can set and read could not be set.
func unreadable(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP)
}

// CanRename reports whether a box whose tree is an overlay in dir, a directory of the runner, can rename directories of the base: only
// then does an overlay behave like a disk. It needs a runner of root's, because nobody else can read what the kernel notes of it.
func CanRename(dir string) bool {
	return setTag(dir) == nil && unix.Removexattr(dir, capture.Tag) == nil
}

// hide puts whiteouts and opaque marks into an upper layer.
func hide(root string, d *gitobj.Delta, own owner, marks capture.Marks) (err error) {
	top, err := openDir(unix.AT_FDCWD, root, own, time.Time{})
	if err != nil {
		return err
	}
	dirs := &dirStack{owner: own, over: true, open: []*openedDir{top}}
	defer func() { err = errors.Join(err, dirs.leave(0)) }()
	for _, name := range d.Gone {
		dir, err := dirs.enter(name, time.Time{})
		if err != nil {
			return err
		}
		// A character device with number 0 is a whiteout; since Linux 5.8 making one needs no privilege.
		if err := unix.Mknodat(dir.fd, path.Base(name), unix.S_IFCHR, 0); err != nil {
			return fmt.Errorf("hide %q: %w", name, err)
		}
	}
	for _, name := range d.Opaque {
		dir, err := dirs.enter(name+"/.", time.Time{})
		if err != nil {
			return err
		}
		if err := unix.Fsetxattr(dir.fd, marks.Opaque(), []byte("y"), 0); err != nil {
			return fmt.Errorf("mark %q: %w", name, &os.SyscallError{Syscall: "fsetxattr", Err: err})
		}
	}
	return nil
}
