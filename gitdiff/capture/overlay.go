package capture

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Marks is the name space of the attributes with which the kernel marks an upper layer. It follows from how the overlay is
// mounted (Linux Documentation/filesystems/overlayfs.rst, "whiteouts and opaque directories", "redirect_dir").
type Marks string

const (
	// NoMarks is of a plain directory.
	NoMarks Marks = ""
	// UserMarks are those of an overlay mounted with the option userxattr. Everybody can read them. The kernel then refuses to
	// rename directories of the base, with EXDEV.
	UserMarks Marks = "user.overlay."
	// TrustedMarks are those of an overlay mounted without it. Directories of the base can be renamed. Only root can read and
	// set these attributes, and to everybody else they seem not to exist, so that the root of such a layer carries [Tag].
	TrustedMarks Marks = "trusted.overlay."
)

// Tag is an attribute of the root of an upper layer with [TrustedMarks]. Who reads it can read the marks.
const Tag = "trusted.sandboxrun.layer"

// Opaque is the mark of a directory of an upper layer that hides the directory below it; its value is "y".
func (m Marks) Opaque() string { return string(m) + "opaque" }

func (m Marks) redirect() string { return string(m) + "redirect" }
func (m Marks) whiteout() string { return string(m) + "whiteout" }

// valid reports whether these are marks that a layer can have.
func (m Marks) valid() bool { return m == NoMarks || m == UserMarks || m == TrustedMarks }

// readable is an error where this process cannot read the marks of the layer.
func (m Marks) readable(root *os.File) error {
	if m != TrustedMarks {
		return nil
	}
	if v, ok, err := xattr(root, Tag, 1); err != nil || !ok || v != "y" {
		return fmt.Errorf("overlay layer: its marks cannot be read (tag %q): %w", v, errors.Join(err, unix.EPERM))
	}
	return nil
}

// maxRedirect bounds the bytes of a redirect. The kernel writes no absolute one beyond its parameter redirect_max, by default 256.
const maxRedirect = 4 << 10

// of reads what a directory of an upper layer says about those below it: it hides what they have at its place, or shows what
// they have at another one, to; "" for neither.
func (m Marks) of(dir *os.File) (opaque bool, to string, err error) {
	v, ok, err := xattr(dir, m.Opaque(), 1)
	if err != nil || ok && v == "y" { // "x" only means that the directory holds attribute whiteouts
		return err == nil, "", err
	}
	to, ok, err = xattr(dir, m.redirect(), maxRedirect)
	if err == nil && ok && to == "" {
		err = fmt.Errorf("%w of no or too many bytes", errRedirect)
	}
	return false, to, err
}

// overlayWhiteout reports whether an empty file of an upper layer stands for a deleted one.
func (m Marks) overlayWhiteout(f *os.File) (bool, error) {
	_, ok, err := xattr(f, m.whiteout(), 1)
	return ok, err
}

// isWhiteout reports whether an entry of an upper layer stands for a deleted one: a character device with number 0/0.
func isWhiteout(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0 }

// xattr reads an attribute. The value of a longer one than most bytes is "".
func xattr(f *os.File, name string, most int) (value string, ok bool, err error) {
	buf := make([]byte, most)
	n, err := unix.Fgetxattr(int(f.Fd()), name, buf)
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
