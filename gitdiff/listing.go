package gitdiff

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Bounds of a tree that can be checked out. The path bound is that of the kernel (PATH_MAX).
const (
	maxListed    = 4_000_000 // files of one tree
	maxListDepth = 1000      // directories below one another
	maxListPath  = 4095      // bytes of one path
	maxTreeBytes = 256 << 20 // bytes of one tree object
)

// TreeError is returned for a tree that cannot be checked out safely.
type TreeError struct {
	Tree   string // hex object id of the tree
	Path   string // what in it is wrong, slash-separated
	Reason string // why
}

func (e *TreeError) Error() string {
	return fmt.Sprintf("tree %s cannot be checked out: %q: %s", e.Tree, e.Path, e.Reason)
}

// listed is one file, symlink or submodule of a tree.
type listed struct {
	path string
	mode filemode.FileMode // Regular, Executable, Symlink or Submodule
	hash plumbing.Hash
}

// listing is everything in a tree. The files are in the order of an index: by the bytes of their paths.
type listing struct {
	root  plumbing.Hash
	files []listed
	trees []plumbing.Hash // every tree object once, the root first
}

// list reads a whole tree and refuses one with names that could reach out of the directory it is checked out to.
func list(ctx context.Context, from objectGetter, root plumbing.Hash) (*listing, error) {
	l := &lister{from: from, seen: map[plumbing.Hash]bool{}, out: &listing{root: root}}
	if err := l.add(ctx, root, "", 0); err != nil {
		return nil, err
	}
	return l.out, nil
}

type lister struct {
	from objectGetter
	seen map[plumbing.Hash]bool
	out  *listing
}

// add takes up all that is in one tree; dir is "" or ends with a slash.
func (l *lister) add(ctx context.Context, id plumbing.Hash, dir string, depth int) error {
	entries, err := l.open(ctx, id, dir, depth)
	if err != nil {
		return err
	}
	if !l.seen[id] {
		l.seen[id] = true
		l.out.trees = append(l.out.trees, id)
	}
	for i := range entries {
		if err := l.take(ctx, &entries[i], dir, depth); err != nil {
			return err
		}
	}
	return nil
}

// take takes up one entry of the tree at dir, with all it holds.
func (l *lister) take(ctx context.Context, e *object.TreeEntry, dir string, depth int) error {
	path := dir + e.Name
	if e.Mode == filemode.Dir {
		return l.add(ctx, e.Hash, path+"/", depth+1)
	}
	if len(l.out.files) == maxListed {
		return l.refuse(path, fmt.Sprintf("more than %d files", maxListed))
	}
	l.out.files = append(l.out.files, listed{path, fileMode(e.Mode), e.Hash})
	return nil
}

// open reads one tree and refuses what must not be checked out.
func (l *lister) open(ctx context.Context, id plumbing.Hash, dir string, depth int) ([]object.TreeEntry, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if depth > maxListDepth {
		return nil, l.refuse(dir[:min(len(dir), 64)]+"…", "too deep")
	}
	entries, err := treeEntries(l.from, id)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(entries))
	for i := range entries {
		e := &entries[i]
		if reason := badEntry(e); reason != "" {
			return nil, l.refuse(dir+e.Name, reason)
		}
		if names[e.Name] {
			return nil, l.refuse(dir+e.Name, "listed twice")
		}
		names[e.Name] = true
		if len(dir)+len(e.Name) > maxListPath {
			return nil, l.refuse(dir[:min(len(dir), 64)]+"…", "path too long")
		}
	}
	return entries, nil
}

func (l *lister) refuse(path, reason string) error {
	return &TreeError{Tree: l.out.root.String(), Path: path, Reason: reason}
}

// fileMode is the mode a file is written with: git's old group-writable files count as ordinary ones.
func fileMode(m filemode.FileMode) filemode.FileMode {
	if m == filemode.Deprecated {
		return filemode.Regular
	}
	return m
}

// badEntry says what is wrong with a tree entry; empty when nothing is.
func badEntry(e *object.TreeEntry) string {
	switch {
	case e.Name == "." || e.Name == ".." || e.Name == "":
		return "not a file name"
	case strings.ContainsAny(e.Name, "/\x00"):
		return "a name with a slash or NUL"
	case isDotGit(e.Name):
		return "a name that some file systems take for .git"
	case len(e.Name) > 255:
		return "name too long"
	}
	switch e.Mode {
	case filemode.Dir, filemode.Regular, filemode.Deprecated, filemode.Executable, filemode.Symlink, filemode.Submodule:
		return ""
	}
	return "unknown mode " + e.Mode.String()
}

// treeEntries returns the entries of one tree object in the order they are recorded, after checking its id.
func treeEntries(from objectGetter, id plumbing.Hash) ([]object.TreeEntry, error) {
	raw, err := content(from, plumbing.TreeObject, id, maxTreeBytes)
	if err != nil {
		return nil, err
	}
	if plumbing.ComputeHash(plumbing.TreeObject, raw) != id {
		return nil, corrupt(id)
	}
	var entries []object.TreeEntry
	for len(raw) > 0 {
		mode, rest, ok := bytes.Cut(raw, []byte{' '})
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(rest) < len(plumbing.ZeroHash) {
			return nil, fmt.Errorf("object %s is corrupt: malformed tree", id)
		}
		// go-git's decoder would give an entry of an unknown mode that of a submodule, and hide what is to be refused.
		m, err := filemode.New(string(mode))
		if err != nil {
			return nil, fmt.Errorf("object %s is corrupt: %w", id, err)
		}
		e := object.TreeEntry{Name: string(name), Mode: m}
		raw = rest[copy(e.Hash[:], rest):]
		entries = append(entries, e)
	}
	return entries, nil
}
