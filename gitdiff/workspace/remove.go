package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	removeDepth = 64   // directories open at once; deeper ones are moved up first
	removeBatch = 1024 // names read at once
	removeTries = 8    // passes over a directory that does not become empty
)

// RemoveTree removes dir and all it holds. It works relative to open directories and follows no link, so nothing outside
// dir is touched, and it copes with what a box can leave behind: directories without permissions, millions of names,
// paths of any depth. Nothing may be writing to dir. That dir does not exist is no error.
func RemoveTree(dir string) error {
	parent, err := unix.Open(filepath.Dir(dir), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	defer unix.Close(parent)
	r := &remover{}
	if err := r.remove(parent, filepath.Base(dir), 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return nil
}

type remover struct {
	top   int // the directory whose content is being removed
	moved int // directories moved up to it so far
}

// remove deletes one name of an open directory.
func (r *remover) remove(parent int, name string, depth int) error {
	err := unix.Unlinkat(parent, name, 0)
	if err == nil || !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) {
		return err
	}
	if unix.Unlinkat(parent, name, unix.AT_REMOVEDIR) == nil {
		return nil
	}
	fd, err := openPrivate(parent, name)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	if depth == removeDepth {
		return r.moveUp(parent, name)
	}
	if depth == 0 {
		r.top = fd
	}
	for stuck := 0; stuck < removeTries; {
		before := r.moved
		if err := r.clear(dir, depth); err != nil {
			return err
		}
		// Directories moved up may have landed behind the position of the listing.
		if err = unix.Unlinkat(parent, name, unix.AT_REMOVEDIR); !errors.Is(err, unix.ENOTEMPTY) {
			return err
		}
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if r.moved == before {
			stuck++
		}
	}
	return err
}

// moveUp moves a directory to the top, under a name that a box may have taken on purpose.
func (r *remover) moveUp(parent int, name string) error {
	for {
		r.moved++
		err := unix.Renameat2(parent, name, r.top, ".sandboxrun-removed-"+strconv.Itoa(r.moved), unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
}

// clear removes what a listing of an open directory shows.
func (r *remover) clear(dir *os.File, depth int) error {
	for {
		names, err := dir.Readdirnames(removeBatch)
		for _, name := range names {
			if err := r.remove(int(dir.Fd()), name, depth+1); err != nil && !errors.Is(err, unix.ENOENT) {
				return fmt.Errorf("%q: %w", name, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// openPrivate opens a directory for reading and gives its owner all rights over it, whatever its mode was.
func openPrivate(parent int, name string) (int, error) {
	const flags = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	path, err := unix.Openat(parent, name, unix.O_PATH|flags, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(path)
	var st unix.Stat_t
	if err := unix.Fstat(path, &st); err != nil {
		return -1, err
	}
	if st.Mode&0o700 != 0o700 {
		// An O_PATH descriptor cannot be changed itself, but its link in /proc names exactly this directory.
		if err := unix.Chmod("/proc/self/fd/"+strconv.Itoa(path), 0o700); err != nil {
			return -1, err
		}
	}
	return unix.Openat(path, ".", unix.O_RDONLY|flags, 0)
}
