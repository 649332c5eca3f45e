package gitdiff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/sys/unix"
)

// ErrBare is returned by [Repo.Apply] for a repository without a work tree.
var ErrBare = errors.New("a bare repository has no working tree")

// ConflictError is returned by [Repo.Apply] when the working tree holds something else than the base at paths that
// would change. Nothing was written.
type ConflictError struct {
	Paths []string // raw paths, in the order of the diff
}

func (e *ConflictError) Error() string {
	shown := e.Paths[:min(len(e.Paths), 5)]
	more := ""
	if n := len(e.Paths) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("the working tree differs from the base at %q%s", shown, more)
}

// Apply brings a diff into the user's working tree, index and HEAD left alone. Every path must be as it is on the
// From side, byte for byte, or already as on the To side; otherwise nothing is written and the error is a
// [ConflictError]. Nothing is run, and no link in the tree leads a write out of it. It returns the raw paths it wrote.
func (r *Repo) Apply(ctx context.Context, d *Diff) (written []string, err error) {
	if r.Bare() {
		return nil, ErrBare
	}
	root, err := os.OpenRoot(r.Root())
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	a := applier{root: root, diff: d}
	todo, err := a.check(ctx)
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	for _, c := range todo {
		if err := context.Cause(ctx); err != nil {
			return written, fmt.Errorf("apply: %w", err)
		}
		if err := a.write(c); err != nil {
			return written, fmt.Errorf("apply %q: %w", c.Name, err)
		}
		written = append(written, c.Name)
	}
	return written, nil
}

type applier struct {
	root *os.Root
	diff *Diff
}

// check finds what is to be written, deletions first so that a directory can take a file's place and the other way
// round, and refuses when the user's state would be lost.
func (a *applier) check(ctx context.Context) ([]Change, error) {
	var todo []Change
	var conflict ConflictError
	for _, c := range a.diff.Changes {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		have, err := a.have(c)
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", c.Name, err)
		}
		switch {
		case have == c.new:
		case have != c.old || slices.ContainsFunc(strings.Split(c.Name, "/"), isDotGit) || c.new.mode == filemode.Submodule:
			conflict.Paths = append(conflict.Paths, c.Name)
		default:
			todo = append(todo, c)
		}
	}
	if conflict.Paths != nil {
		return nil, &conflict
	}
	slices.SortStableFunc(todo, func(x, y Change) int { return rank(x) - rank(y) })
	return todo, nil
}

func rank(c Change) int {
	if c.Type == Deleted {
		return 0
	}
	return 1
}

// have is what the working tree holds at a path of a change, as git would record it byte for byte.
func (a *applier) have(c Change) (side, error) {
	fi, err := a.root.Lstat(c.Name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return side{}, nil
	}
	if err != nil {
		return side{}, err
	}
	switch {
	case fi.Mode().IsRegular():
		mode := filemode.Regular
		if fi.Mode()&0o100 != 0 {
			mode = filemode.Executable
		}
		id, err := a.hash(c.Name, fi.Size())
		return side{mode: mode, id: id}, err
	case fi.Mode()&fs.ModeSymlink != 0:
		to, err := a.root.Readlink(c.Name)
		return side{mode: filemode.Symlink, id: plumbing.ComputeHash(plumbing.BlobObject, []byte(to))}, err
	case fi.IsDir():
		// A directory that other changes empty makes room for a file; one that keeps files fails the rename.
		return side{}, nil
	}
	return side{mode: filemode.Dir}, nil // whatever it is, no change of a diff is one
}

func (a *applier) hash(name string, size int64) (plumbing.Hash, error) {
	f, err := a.root.Open(name)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	h := plumbing.NewHasher(plumbing.BlobObject, size)
	_, err = io.Copy(h, io.LimitReader(f, size))
	return h.Sum(), errors.Join(err, f.Close())
}

// write brings one path to its new side.
func (a *applier) write(c Change) error {
	if c.Type == Deleted {
		if err := a.root.Remove(c.Name); err != nil {
			return err
		}
		a.prune(path.Dir(c.Name))
		return nil
	}
	if dir := path.Dir(c.Name); dir != "." {
		if err := a.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if fi, err := a.root.Lstat(c.Name); err == nil && fi.IsDir() {
		if err := a.root.Remove(c.Name); err != nil { // only when empty
			return err
		}
	}
	temp := path.Join(path.Dir(c.Name), ".sandboxrun-apply-"+c.NewID[:12])
	if err := a.fill(temp, c); err != nil {
		return errors.Join(err, a.drop(temp))
	}
	if err := a.root.Rename(temp, c.Name); err != nil {
		return errors.Join(err, a.drop(temp))
	}
	return nil
}

func (a *applier) fill(temp string, c Change) error {
	blob, err := a.diff.storer.EncodedObject(plumbing.BlobObject, c.new.id)
	if err != nil {
		return err
	}
	content, err := blob.Reader()
	if err != nil {
		return err
	}
	if c.new.mode == filemode.Symlink {
		to, err := io.ReadAll(io.LimitReader(content, maxLink))
		return errors.Join(err, content.Close(), a.root.Symlink(string(to), temp))
	}
	perm := fs.FileMode(0o666)
	if c.new.mode == filemode.Executable {
		perm = 0o777
	}
	f, err := a.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return errors.Join(err, content.Close())
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, content.Close(), f.Sync(), f.Close())
}

// maxLink is the longest text a link can have on Linux (PATH_MAX).
const maxLink = 4096

func (a *applier) drop(temp string) error {
	if err := a.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// prune removes directories that have become empty, as git does; one that is not empty stays.
func (a *applier) prune(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if fi, err := a.root.Lstat(dir); err != nil || !fi.IsDir() || a.root.Remove(dir) != nil {
			return
		}
	}
}
