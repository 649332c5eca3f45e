// Package gitfile opens files of git directories that somebody else has made: regular files alone, below the directory, without
// following a link and without waiting.
package gitfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrUnsafe says that what is at the place of a file is something else, such as a FIFO, a device or a symbolic link, or
// that a link is on the way to it.
var ErrUnsafe = errors.New("not a regular file of the git directory")

const readFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_NOCTTY | unix.O_CLOEXEC

// Open opens a regular file by its slash-separated name below a directory. Errors are [*fs.PathError]s; for what is not a
// regular file they wrap [ErrUnsafe], for a directory EISDIR.
func Open(dir, name string) (*os.File, error) {
	failed := func(err error) (*os.File, error) {
		if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EXDEV) || errors.Is(err, unix.ENXIO) {
			err = ErrUnsafe
		}
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir, name), Err: err}
	}
	root, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return failed(err)
	}
	defer unix.Close(root)
	fd, err := beneath(root, name)
	if err != nil {
		return failed(err)
	}
	f := os.NewFile(uintptr(fd), name)
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = unix.EISDIR
	case !info.Mode().IsRegular():
		err = ErrUnsafe
	default:
		return f, nil
	}
	_ = f.Close() // it was not read
	return failed(err)
}

// beneath opens a file below an open directory with the strictest resolution the kernel has. Where openat2 is missing (before
// Linux 5.6, or filtered), every component is opened by itself.
func beneath(dir int, name string) (int, error) {
	how := unix.OpenHow{Flags: readFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(dir, name, &how)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
			return stepwise(dir, name)
		}
		return fd, err
	}
}

// stepwise opens a file below an open directory, one component after the other.
func stepwise(dir int, name string) (int, error) {
	part, rest, deeper := strings.Cut(name, "/")
	if part == ".." {
		return -1, unix.EXDEV
	}
	if !deeper {
		return unix.Openat(dir, part, readFlags, 0)
	}
	next, err := unix.Openat(dir, part, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(next)
	return stepwise(next, rest)
}

// Dirs reports whether every component of a slash-separated name below a directory that exists is a directory itself; a
// symbolic link is none. The error wraps [ErrUnsafe].
func Dirs(dir, name string) error {
	path := dir
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return &fs.PathError{Op: "enter", Path: path, Err: fmt.Errorf("no directory: %w", ErrUnsafe)}
		}
	}
	return nil
}

// ReadIn reads a regular file of at most limit bytes below a directory, as [Open] opens it.
func ReadIn(dir, name string, limit int64) ([]byte, error) {
	f, err := Open(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadOpen(f, limit)
}

// Read reads a regular file of at most limit bytes anywhere. Links are followed, as in a person's own configuration, but it
// never waits: a FIFO or device in place of the file is an error.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadOpen(f, limit)
}

// ReadOpen reads an open file, which is a regular one of at most limit bytes or an error.
func ReadOpen(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", f.Name(), ErrUnsafe)
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s: larger than %d bytes", f.Name(), limit)
	}
	return text, nil
}
