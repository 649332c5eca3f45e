package gitdiff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// opaqueMark on a directory of an upper layer hides the directory below it. It is the mark of overlays mounted with
// userxattr, which needs no privilege. See the kernel's Documentation/filesystems/overlayfs.rst.
const opaqueMark = "user.overlay.opaque"

// makeOverlay makes the upper layer of a workspace hold exactly what differs between the base and tree.
func makeOverlay(ctx context.Context, w *Workspace, tree plumbing.Hash, own owner) error {
	for _, dir := range []string{w.lower, w.root, w.workDir()} {
		if strings.ContainsAny(dir, ",:\\") {
			return fmt.Errorf("%s: an overlay cannot be mounted on a path with a comma, colon or backslash", dir)
		}
	}
	if err := privateDir(w.root, own); err != nil {
		return err
	}
	if err := w.objects.store.takeWorkDir(w.workDir(), own); err != nil {
		return err
	}
	d, err := deltaOf(ctx, w.objects.st, w.baseTree, tree)
	if err != nil {
		return err
	}
	c := &checkout{from: w.objects.st, owner: own, mtime: func(*listed) time.Time { return time.Time{} }}
	if err := c.run(ctx, w.root, d.files, true); err != nil {
		return err
	}
	return hide(w.root, d, own)
}

// hide puts whiteouts and opaque marks into an upper layer.
func hide(root string, d *delta, own owner) (err error) {
	top, err := openDir(unix.AT_FDCWD, root, own, time.Time{})
	if err != nil {
		return err
	}
	dirs := &dirStack{owner: own, over: true, open: []*openedDir{top}}
	defer func() { err = errors.Join(err, dirs.leave(0)) }()
	for _, name := range d.gone {
		dir, err := dirs.enter(name, time.Time{})
		if err != nil {
			return err
		}
		// A character device with number 0 is a whiteout; since Linux 5.8 making one needs no privilege.
		if err := unix.Mknodat(dir.fd, path.Base(name), unix.S_IFCHR, 0); err != nil {
			return fmt.Errorf("hide %q: %w", name, err)
		}
	}
	for _, name := range d.opaque {
		dir, err := dirs.enter(name+"/.", time.Time{})
		if err != nil {
			return err
		}
		if err := unix.Fsetxattr(dir.fd, opaqueMark, []byte("y"), 0); err != nil {
			return fmt.Errorf("mark %q: %w", name, &os.SyscallError{Syscall: "fsetxattr", Err: err})
		}
	}
	return nil
}
