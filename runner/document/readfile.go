package document

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

var (
	errNotRegular = errors.New("not a regular file")
	errExposed    = errors.New("other users may read it; chmod 600 it")
)

// ReadSmall reads a whole file of at most limit bytes. It never blocks on a
// FIFO and never reads a device.
func ReadSmall(path string, limit int64) ([]byte, error) {
	return readFile(path, limit, func(fs.FileInfo) error { return nil })
}

// ReadPrivate is readSmall for secrets: it refuses a file that anyone but its
// owner has access to.
func ReadPrivate(path string, limit int64) ([]byte, error) {
	return readFile(path, limit, func(fi fs.FileInfo) error {
		if fi.Mode().Perm()&0o077 != 0 {
			return &fs.PathError{Op: "read", Path: path, Err: errExposed}
		}
		return nil
	})
}

func readFile(path string, limit int64, check func(fs.FileInfo) error) (data []byte, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	if err := check(fi); err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("has more than %d bytes", limit)}
	}
	return data, err
}
