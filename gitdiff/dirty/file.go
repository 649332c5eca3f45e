package dirty

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/sys/unix"
)

// Bounds of reading a user's work tree.
const (
	maxWorkBytes = 8 << 30 // all files together
	maxWorkFile  = 2 << 30 // one file
)

// workFile is a file or link of a user's work tree that may have to be read.
type workFile struct {
	path   string
	name   string // in the open directory dir
	dir    int
	size   int64
	mode   filemode.FileMode
	budget *int64 // bytes that may still be read in the whole tree
}

// read gives the content to use, as a stream that can be read twice. Nothing is followed and nothing is waited for.
func (f *workFile) read(use func(r io.ReadSeeker, size int64) error) (err error) {
	if *f.budget -= f.size; *f.budget < 0 || f.size > maxWorkFile {
		return &unknown{fmt.Sprintf("%q: more content to read than %d bytes for a file or %d for all", f.path, int64(maxWorkFile), int64(maxWorkBytes))}
	}
	if f.mode == filemode.Symlink {
		text := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(f.dir, f.name, text)
		if err != nil {
			return fmt.Errorf("%q: %w", f.path, err)
		}
		return use(strings.NewReader(string(text[:n])), int64(n))
	}
	fd, err := unix.Openat(f.dir, f.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%q: %w", f.path, err)
	}
	file := os.NewFile(uintptr(fd), f.name)
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("%q: %w", f.path, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q: no longer a file", f.path)
	}
	if err := use(file, f.size); err != nil {
		return fmt.Errorf("%q: %w", f.path, err)
	}
	return nil
}

// id is the id the content has as a blob.
func (f *workFile) id() (id plumbing.Hash, err error) {
	err = f.read(func(r io.ReadSeeker, size int64) error {
		h := plumbing.NewHasher(plumbing.BlobObject, size)
		n, err := io.Copy(h, io.LimitReader(r, size))
		if err == nil && n < size {
			err = io.ErrUnexpectedEOF
		}
		id = h.Sum()
		return err
	})
	return id, err
}

// unknown is the error of a work tree whose state cannot be determined; it becomes [State.Unknown].
type unknown struct{ reason string }

func (e *unknown) Error() string {
	return "the state of the work tree cannot be determined: " + e.reason
}
