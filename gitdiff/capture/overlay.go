package capture

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// The marks of an upper layer mounted with the option userxattr, which a box cannot set itself: overlayfs refuses its own
// attributes to those above it (Linux Documentation/filesystems/overlayfs.rst, "whiteouts and opaque directories").
const (
	xattrWhiteout = "user.overlay.whiteout"
	xattrRedirect = "user.overlay.redirect"
	// OpaqueMark on a directory of an upper layer hides the directory below it.
	OpaqueMark = "user.overlay.opaque"
)

// errRedirect is the error of a layer that was made with redirect_dir on: its directories may show the content of others.
var errRedirect = errors.New("overlay directory is redirected: mounted without userxattr")

// overlayOpaque reports whether a directory of an upper layer hides what the layers below have at its place.
func overlayOpaque(dir *os.File) (bool, error) {
	if _, redirected, err := xattr(dir, xattrRedirect); err != nil {
		return false, err
	} else if redirected {
		return false, errRedirect
	}
	v, ok, err := xattr(dir, OpaqueMark)
	return ok && v == "y", err // "x" only means that the directory holds attribute whiteouts
}

// overlayWhiteout reports whether an empty file of an upper layer stands for a deleted one.
func overlayWhiteout(f *os.File) (bool, error) {
	_, ok, err := xattr(f, xattrWhiteout)
	return ok, err
}

// isWhiteout reports whether an entry of an upper layer stands for a deleted one: a character device with number 0/0.
func isWhiteout(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0 }

// xattr reads the first byte of an attribute, which is all the marks have.
func xattr(f *os.File, name string) (value string, ok bool, err error) {
	var buf [1]byte
	n, err := unix.Fgetxattr(int(f.Fd()), name, buf[:])
	switch {
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP):
		return "", false, nil
	case errors.Is(err, unix.ERANGE):
		return "", true, nil
	case err != nil:
		return "", false, fmt.Errorf("getxattr %s: %w", name, err)
	}
	return string(buf[:n]), true, nil
}
