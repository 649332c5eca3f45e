package apply

import (
	"errors"
	"io"
	"os"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitname"
)

// applier applies one diff.
type applier struct {
	root    *workTree
	storer  storer.EncodedObjectStorer
	diff    *change.Diff
	escapes []string
	merger  *merger         // nil where nothing is merged
	merged  map[string]bool // paths whose new side is of both changes

	paths    map[string]bool // all paths of the diff
	removed  map[string]bool // those that it deletes
	emptying map[string]bool // the directories that those are in
}

func newApplier(root *workTree, o *gitdiff.Objects, d *change.Diff) *applier {
	a := &applier{root: root, storer: o.Storer(), diff: d, paths: map[string]bool{}, removed: map[string]bool{}, emptying: map[string]bool{}, merged: map[string]bool{}}
	for i := range d.Changes {
		c := &d.Changes[i]
		if a.paths[c.Name] = true; c.Type != change.Deleted {
			continue
		}
		a.removed[c.Name] = true
		for dir := path.Dir(c.Name); dir != "." && !a.emptying[dir]; dir = path.Dir(dir) {
			a.emptying[dir] = true
		}
	}
	return a
}

// Modes as a [change.Change] writes them.
const (
	plainMode     = "100644"
	programMode   = "100755"
	linkMode      = "120000"
	submoduleMode = "160000"
	otherMode     = "other" // of what no change of a diff has
)

// state is what is at a path, as a change names its sides: an octal mode and a hex id; the zero value is nothing.
type state struct{ mode, id string }

func oldState(c *change.Change) state { return state{c.OldMode, c.OldID} }
func newState(c *change.Change) state { return state{c.NewMode, c.NewID} }

// held is what the working tree has at the path of a change, as git would record it byte for byte. What is below a file or
// a link counts as nothing where that is a path of the diff as well, whose own comparison decides.
func (a *applier) held(c *change.Change) (state, error) {
	if gitname.IsDotGit(path.Base(c.Name)) {
		return state{}, &pathError{c.Name, gitDirs}
	}
	dir, err := a.root.parent(c.Name, false)
	var why *pathError
	switch {
	case errors.Is(err, errNoDir):
		return state{}, nil
	case errors.As(err, &why) && why.is != gitDirs && a.paths[why.at]:
		return state{}, nil
	case why != nil && why.is == aFile:
		return state{mode: otherMode}, nil
	case err != nil:
		return state{}, err
	}
	defer unix.Close(dir)
	return a.heldIn(dir, c)
}

// heldIn is what an open directory has under the last component of a change's path. A directory counts as nothing: of a
// path that is to be deleted in any case, of others when the diff deletes all that is in it.
func (a *applier) heldIn(dir int, c *change.Change) (state, error) {
	base := path.Base(c.Name)
	var st unix.Stat_t
	err := unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return state{}, nil
	}
	if err != nil {
		return state{}, err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return heldFile(dir, base)
	case unix.S_IFLNK:
		text := make([]byte, maxLink+1)
		n, err := unix.Readlinkat(dir, base, text)
		if err != nil {
			return state{}, err
		}
		return state{linkMode, plumbing.ComputeHash(plumbing.BlobObject, text[:n]).String()}, nil
	case unix.S_IFDIR:
		ok := c.Type == change.Deleted
		if !ok {
			ok, err = a.emptied(dir, base, c.Name)
		}
		if err != nil || ok {
			return state{}, err
		}
	}
	return state{mode: otherMode}, nil
}

// heldFile hashes a regular file of an open directory.
func heldFile(dir int, base string) (state, error) {
	fd, err := unix.Openat(dir, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return state{}, err
	}
	f := os.NewFile(uintptr(fd), base)
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return state{}, err
	}
	if !info.Mode().IsRegular() {
		return state{mode: otherMode}, nil
	}
	h := plumbing.NewHasher(plumbing.BlobObject, info.Size())
	if _, err := io.Copy(h, io.LimitReader(f, info.Size())); err != nil {
		return state{}, err
	}
	mode := plainMode
	if info.Mode()&0o100 != 0 {
		mode = programMode
	}
	return state{mode, h.Sum().String()}, nil
}

// emptied reports whether the change deletes all that a directory holds, so that it will not be there any more.
func (a *applier) emptied(parent int, base, name string) (bool, error) {
	fd, err := a.root.child(parent, base, name, false)
	if err != nil {
		return false, err
	}
	dir := os.NewFile(uintptr(fd), base)
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(256)
		for _, e := range entries {
			below := name + "/" + e.Name()
			if a.removed[below] {
				continue
			}
			if !e.IsDir() || !a.emptying[below] {
				return false, nil
			}
			if ok, err := a.emptied(fd, e.Name(), below); !ok || err != nil {
				return false, err
			}
		}
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// maxLink is the longest text a link can have on Linux (PATH_MAX).
const maxLink = 4096
