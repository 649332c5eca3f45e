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
	return hide(w.root, d, own)
}

// hide puts whiteouts and opaque marks into an upper layer.
func hide(root string, d *gitobj.Delta, own owner) (err error) {
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
		if err := unix.Fsetxattr(dir.fd, capture.OpaqueMark, []byte("y"), 0); err != nil {
			return fmt.Errorf("mark %q: %w", name, &os.SyscallError{Syscall: "fsetxattr", Err: err})
		}
	}
	return nil
}
