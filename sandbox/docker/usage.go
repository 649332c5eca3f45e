package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// maxDepth bounds how deep directories may nest: each level costs the walk a descriptor.
	maxDepth = 1000
	// dirBatch is how many names are read from a directory at a time.
	dirBatch = 512
	// blockBytes is the unit of st_blocks, whatever the filesystem: stat(2).
	blockBytes = 512
)

var (
	errDeep   = fmt.Errorf("directories are nested deeper than %d", maxDepth)
	errEnough = errors.New("limit exceeded")
)

// usage is disk usage of a filesystem or a tree.
type usage struct{ bytes, inodes int64 }

// openDir opens a directory without following a link in the last element.
func openDir(path string) (*os.File, error) {
	return os.OpenFile(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// measure sums a tree that hostile processes may change meanwhile. It walks from open directory to open directory,
// never by path, follows no link, opens nothing but directories and stays on one filesystem. An unreadable directory
// counts as itself. Past a non-zero allowed it stops early.
func measure(ctx context.Context, root *os.File, allowed usage) (usage, error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(root.Fd()), &s); err != nil {
		return usage{}, fmt.Errorf("measure tree: %w", err)
	}
	// A descriptor of its own, since reading moves the offset.
	top, err := openChild(int(root.Fd()), ".")
	if err != nil {
		return usage{}, fmt.Errorf("measure tree: %w", err)
	}
	w := walk{ctx: ctx, device: s.Dev, allowed: allowed}
	if err := w.dir(top, 0); err != nil && !errors.Is(err, errEnough) {
		return w.sum, fmt.Errorf("measure tree: %w", err)
	}
	return w.sum, nil
}

type walk struct {
	ctx     context.Context
	device  uint64
	allowed usage
	sum     usage
}

func (w *walk) dir(d *os.File, depth int) error {
	defer d.Close()
	if depth > maxDepth {
		return errDeep
	}
	for {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		names, err := d.Readdirnames(dirBatch)
		for _, name := range names {
			if err := w.entry(d, name, depth); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (w *walk) entry(d *os.File, name string, depth int) error {
	var s unix.Stat_t
	if err := unix.Fstatat(int(d.Fd()), name, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return unlessChanged(err)
	}
	isDir := s.Mode&unix.S_IFMT == unix.S_IFDIR
	links := max(1, int64(s.Nlink))
	if isDir {
		links = 1
	}
	// Every name of a hard link counts its share.
	w.sum.bytes += s.Blocks * blockBytes / links
	w.sum.inodes++
	if w.allowed != (usage{}) && (w.sum.bytes > w.allowed.bytes || w.sum.inodes > w.allowed.inodes) {
		return errEnough
	}
	if !isDir || s.Dev != w.device {
		return nil
	}
	child, err := openChild(int(d.Fd()), name)
	if err != nil {
		return unlessChanged(err)
	}
	return w.dir(child, depth+1)
}

func openChild(parent int, name string) (*os.File, error) {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// unlessChanged ignores errors that a tree in use causes between two calls, and those of unreadable directories.
func unlessChanged(err error) error {
	for _, usual := range []error{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EACCES, unix.ESTALE} {
		if errors.Is(err, usual) {
			return nil
		}
	}
	return err
}
