package apply

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
)

// ErrElsewhere is returned by [Apply] for a repository whose configuration names a working tree in another place.
var ErrElsewhere = errors.New("core.worktree names another working tree")

// UnsafeError is returned by [Apply] when writing a path would pass a symbolic link or reach a git directory. Nothing was
// written, unless the directory was replaced while Apply was at work.
type UnsafeError struct {
	Paths   []string // raw paths, in the order of the diff
	Reasons []string // why, one for each path
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("writing to %s is not safe: %s", few(e.Paths), gitname.Clip(e.Reasons[0], 300))
}

// obstacle is what a path of the tree cannot go through.
type obstacle string

const (
	aFile   obstacle = "a file"
	aLink   obstacle = "a symbolic link"
	gitDirs obstacle = "a git directory"
)

// pathError says that a component of a path is not a directory that may be written to.
type pathError struct {
	at string // the path up to that component
	is obstacle
}

func (e *pathError) Error() string { return fmt.Sprintf("%q is %s", e.at, e.is) }

// errNoDir says that the directory of a path does not exist.
var errNoDir = errors.New("no such directory")

// inode names a directory, whatever path it has.
type inode struct{ dev, ino uint64 }

func inodeOf(st *unix.Stat_t) inode { return inode{st.Dev, st.Ino} }

// workTree is the open root of a working tree.
type workTree struct {
	fd   int
	gits map[inode]bool // git directories of the repository
}

// openWorkTree opens the root of a repository's working tree.
func openWorkTree(r *gitdiff.Repo) (*workTree, error) {
	if tree, err := r.WorkTree(); err != nil {
		return nil, err
	} else if tree != r.Root() {
		return nil, fmt.Errorf("%w: %s", ErrElsewhere, tree)
	}
	w := &workTree{gits: map[inode]bool{}}
	for _, dir := range append([]string{r.GitDir(), r.CommonDir(), filepath.Join(r.Root(), ".git")}, r.ObjectDirs()...) {
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil {
			return nil, &os.PathError{Op: "stat", Path: dir, Err: err}
		}
		w.gits[inodeOf(&st)] = true
	}
	fd, err := unix.Open(r.Root(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: r.Root(), Err: err}
	}
	w.fd = fd
	return w, nil
}

func (w *workTree) close() error { return unix.Close(w.fd) }

// parent opens the directory of a path of the tree, one component after the other; the caller closes it. With create set
// it makes the directories that are missing, without it they give [errNoDir]. A component that is no directory of the
// working tree gives a [*pathError].
func (w *workTree) parent(name string, create bool) (int, error) {
	fd, err := unix.FcntlInt(uintptr(w.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	dir, done := path.Dir(name), ""
	if dir == "." {
		return fd, nil
	}
	for part := range strings.SplitSeq(dir, "/") {
		done = path.Join(done, part)
		next, err := w.child(fd, part, done, create)
		if err = errors.Join(err, unix.Close(fd)); err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

// child opens one directory of an open one; whole is its path for messages.
func (w *workTree) child(dir int, part, whole string, create bool) (int, error) {
	if part == ".." || gitname.IsDotGit(part) {
		return -1, &pathError{whole, gitDirs}
	}
	fd, err := openDir(dir, part)
	if errors.Is(err, unix.ENOENT) && create {
		if err := unix.Mkdirat(dir, part, 0o777); err != nil && !errors.Is(err, unix.EEXIST) {
			return -1, err
		}
		fd, err = openDir(dir, part)
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		return -1, errNoDir
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		var st unix.Stat_t
		if err := unix.Fstatat(dir, part, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Mode&unix.S_IFMT != unix.S_IFLNK {
			return -1, &pathError{whole, aFile}
		}
		return -1, &pathError{whole, aLink}
	case err != nil:
		return -1, err
	}
	git, err := w.isGit(fd)
	if err == nil && git {
		err = &pathError{whole, gitDirs}
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// openDir opens a directory of an open one; a link in its place is not followed.
func openDir(dir int, name string) (int, error) {
	return unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// isGit reports whether an open directory is a git directory: one of this repository, by device and inode, or one of any
// other, by what git itself goes by.
func (w *workTree) isGit(fd int) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, err
	}
	if w.gits[inodeOf(&st)] {
		return true, nil
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return false, nil //nolint:nilerr // git would not take it for one
		}
	}
	return true, nil
}

// few names the first of some paths.
func few(paths []string) string {
	shown := paths[:min(len(paths), 5)]
	if n := len(paths) - len(shown); n > 0 {
		return fmt.Sprintf("%q and %d more", shown, n)
	}
	return fmt.Sprintf("%q", shown)
}
