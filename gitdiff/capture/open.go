package capture

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"sandboxrun/gitdiff"

	"golang.org/x/sys/unix"
)

// open opens what place names, and nothing else: no link is followed, no FIFO waited for, no mount entered, and what was
// opened is what was inspected. A nil file without an error means that it cannot be read, which a finding reports.
func (c *capturer) open(at place, flags int) (*os.File, error) {
	flags |= unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NOCTTY
	dir := int(at.dir.f.Fd())
	fd, err := openBeneath(dir, at.name, flags)
	if errors.Is(err, unix.EACCES) && allow(dir, at) == nil {
		fd, err = openBeneath(dir, at.name, flags)
	}
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		c.find(gitdiff.Unreadable, at.path, err.Error())
		return nil, nil
	case errors.Is(err, unix.EXDEV):
		c.find(gitdiff.SpecialFile, at.path, "mount point")
		return nil, nil
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ENXIO):
		return nil, fmt.Errorf("%w: %q was replaced: %w", gitdiff.ErrTreeUnstable, at.path, err)
	case err != nil:
		return nil, fmt.Errorf("open %q: %w", at.path, err)
	}
	f := os.NewFile(uintptr(fd), at.name)
	st, err := fstat(f)
	if err == nil && !sameFile(&st, &at.st) {
		err = fmt.Errorf("%w: %q was replaced", gitdiff.ErrTreeUnstable, at.path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func sameFile(a, b *unix.Stat_t) bool {
	return a.Dev == b.Dev && a.Ino == b.Ino && a.Mode&unix.S_IFMT == b.Mode&unix.S_IFMT
}

// openBeneath opens one component of a directory with the strictest resolution the kernel has. Where openat2 is missing
// (before Linux 5.6, or filtered), openat with O_NOFOLLOW on a single component cannot leave the directory either.
func openBeneath(dir int, name string, flags int) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	}
	for {
		fd, err := unix.Openat2(dir, name, &how)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
			return unix.Openat(dir, name, flags|unix.O_NOFOLLOW, 0)
		}
		return fd, err
	}
}

// allow gives the owner the right to read what the box has closed to it. The path of /proc names the opened inode, so a
// link put in its place is not followed.
func allow(dir int, at place) error {
	fd, err := openBeneath(dir, at.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if !sameFile(&st, &at.st) {
		return gitdiff.ErrTreeUnstable
	}
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), st.Mode&0o777|0o500)
}
