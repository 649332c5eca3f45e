package gitdiff

import (
	"os"
	"path"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
)

// readOnlyFS shows go-git one directory of a user's repository without a way to change it: whatever go-git may try, the
// repository stays as it is. As prefix is what go-git calls the directory, an object directory need not be called
// "objects", and its alternates are hidden: go-git would open them anew for each object it misses.
type readOnlyFS struct {
	billy.Filesystem
	prefix string
}

func newReadOnlyFS(dir, prefix string) *readOnlyFS {
	return &readOnlyFS{Filesystem: osfs.New(dir), prefix: prefix}
}

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
	return f.Filesystem.Open(f.in(name))
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
