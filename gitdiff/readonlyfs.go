package gitdiff

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sandboxrun/gitdiff/gitfile"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
)

// readOnlyFS shows go-git one directory of a user's repository without a way to change it: whatever go-git may try, the
// repository stays as it is. As prefix is what go-git calls the directory, an object directory need not be called
// "objects", and its alternates are hidden: go-git would open them anew for each object it misses. Only regular files
// below the directory are opened, see [gitfile.Open].
type readOnlyFS struct {
	billy.Filesystem
	dir, prefix string
	limits      map[string]int64 // bytes that a file may have, by name, "" for all others; nil for any
	unsafe      error            // the first error of a file that is none
}

func newReadOnlyFS(dir, prefix string) *readOnlyFS {
	return &readOnlyFS{Filesystem: osfs.New(dir), dir: dir, prefix: prefix}
}

// Bounds of the files that references are in, in bytes.
const (
	maxLooseRef   = 64 << 10
	maxPackedRefs = 1 << 30
)

// refsFS shows the references of a git directory.
func refsFS(dir string) *readOnlyFS {
	f := newReadOnlyFS(dir, "")
	f.limits = map[string]int64{"": maxLooseRef, "packed-refs": maxPackedRefs}
	return f
}

// readFile is an open file as go-git wants it. Nothing is locked: nothing is written.
type readFile struct{ *os.File }

func (readFile) Lock() error   { return nil }
func (readFile) Unlock() error { return nil }

func (f *readOnlyFS) in(name string) string {
	name = strings.TrimPrefix(path.Clean(name), "/")
	if name == f.prefix {
		return "."
	}
	return strings.TrimPrefix(name, f.prefix+"/")
}

func (f *readOnlyFS) Open(name string) (billy.File, error) {
	if strings.HasSuffix(name, "info/alternates") {
		return nil, os.ErrNotExist
	}
	name = f.in(name)
	file, err := gitfile.Open(f.dir, name)
	if err == nil && f.limits != nil {
		limit, ok := f.limits[name]
		if !ok {
			limit = f.limits[""]
		}
		if info, serr := file.Stat(); serr != nil || info.Size() > limit {
			err = errors.Join(serr, fmt.Errorf("%s: %w: larger than %d bytes", filepath.Join(f.dir, name), gitfile.ErrUnsafe, limit), file.Close())
		}
	}
	if err != nil {
		if errors.Is(err, gitfile.ErrUnsafe) && f.unsafe == nil {
			f.unsafe = err
		}
		return nil, err
	}
	return readFile{file}, nil
}

func (f *readOnlyFS) OpenFile(name string, flag int, _ os.FileMode) (billy.File, error) {
	if flag != os.O_RDONLY {
		return nil, billy.ErrReadOnly
	}
	return f.Open(name)
}

func (f *readOnlyFS) Stat(name string) (os.FileInfo, error)  { return f.Filesystem.Stat(f.in(name)) }
func (f *readOnlyFS) Lstat(name string) (os.FileInfo, error) { return f.Filesystem.Lstat(f.in(name)) }
func (f *readOnlyFS) Readlink(name string) (string, error)   { return f.Filesystem.Readlink(f.in(name)) }
func (f *readOnlyFS) ReadDir(name string) ([]os.FileInfo, error) {
	return f.Filesystem.ReadDir(f.in(name))
}

func (f *readOnlyFS) Create(string) (billy.File, error)           { return nil, billy.ErrReadOnly }
func (f *readOnlyFS) TempFile(string, string) (billy.File, error) { return nil, billy.ErrReadOnly }
func (f *readOnlyFS) Rename(string, string) error                 { return billy.ErrReadOnly }
func (f *readOnlyFS) Remove(string) error                         { return billy.ErrReadOnly }
func (f *readOnlyFS) MkdirAll(string, os.FileMode) error          { return billy.ErrReadOnly }
func (f *readOnlyFS) Symlink(string, string) error                { return billy.ErrReadOnly }
func (f *readOnlyFS) Chroot(string) (billy.Filesystem, error)     { return nil, billy.ErrReadOnly }
