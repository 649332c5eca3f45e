// Package publish makes files appear complete, under names that nobody has taken.
package publish

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// HalfPrefix begins the name of a file that is not complete, on file systems that need one.
const HalfPrefix = ".new-"

// File writes data to a new file of mode 0600 and links it to path: of several callers, the first to do so gets the
// name, and the others fs.ErrExist. No reader ever sees a part of it. Both survive a crash of the machine.
func File(path string, data []byte) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = link(dir, path, data)
	if err == nil {
		err = SyncDir(dir)
	}
	return errors.Join(err, dir.Close())
}

// SyncDir makes the names of an open directory survive a crash of the machine, where its file system can do so.
func SyncDir(dir *os.File) error {
	err := dir.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}

// link writes a file without a name, so that a writer who dies leaves nothing, and then names it.
func link(dir *os.File, path string, data []byte) error {
	fd, err := unix.Openat(int(dir.Fd()), ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil { // this file system has no files without names
		return linkNamed(path, data)
	}
	f := os.NewFile(uintptr(fd), path)
	err = fill(f, data)
	if err == nil {
		if err = unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
			err = &os.LinkError{Op: "link", Old: "", New: path, Err: err}
		}
	}
	return errors.Join(err, f.Close())
}

func linkNamed(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), HalfPrefix+"*")
	if err != nil {
		return err
	}
	err = fill(f, data)
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	return errors.Join(err, os.Remove(f.Name()), f.Close())
}

func fill(f *os.File, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return f.Sync()
}
