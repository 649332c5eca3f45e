package gitobj

import (
	"context"
	"fmt"
	"strings"

	"sandboxrun/gitdiff/gitname"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Bounds of a tree that can be checked out. The path bound is that of the kernel (PATH_MAX).
const (
	maxListed    = 4_000_000 // files of one tree
	maxListDepth = 1000      // directories below one another
	maxListPath  = 4095      // bytes of one path
	maxListNames = 128 << 20 // bytes of all paths: a small repository can name one subtree thousands of times
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

// File is one file, symlink or submodule of a tree.
type File struct {
	Path string
	Mode filemode.FileMode // Regular, Executable, Symlink or Submodule
	Hash plumbing.Hash
}

// Listing is everything in a tree. The files are in the order of an index: by the bytes of their paths.
type Listing struct {
	Root  plumbing.Hash
	Files []File
	Trees []plumbing.Hash // every tree object once, the root first
}

// List reads a whole tree and refuses one with names that could reach out of the directory it is checked out to.
func List(ctx context.Context, from Getter, root plumbing.Hash) (*Listing, error) {
	l := &lister{from: from, seen: map[plumbing.Hash]bool{}, out: &Listing{Root: root}}
	if err := l.add(ctx, root, "", 0); err != nil {
		return nil, err
	}
	return l.out, nil
}

type lister struct {
	from  Getter
	seen  map[plumbing.Hash]bool
	names int // bytes of the paths listed so far
	out   *Listing
}

// add adds everything in one tree; dir is "" or ends with a slash.
func (l *lister) add(ctx context.Context, id plumbing.Hash, dir string, depth int) error {
	entries, err := l.open(ctx, id, dir, depth)
	if err != nil {
		return err
	}
	if !l.seen[id] {
		l.seen[id] = true
		l.out.Trees = append(l.out.Trees, id)
	}
	for i := range entries {
		if err := l.take(ctx, &entries[i], dir, depth); err != nil {
			return err
		}
	}
	return nil
}

// take adds one entry of the tree at dir, with all it holds.
func (l *lister) take(ctx context.Context, e *object.TreeEntry, dir string, depth int) error {
	path := dir + e.Name
	if e.Mode == filemode.Dir {
		return l.add(ctx, e.Hash, path+"/", depth+1)
	}
	if len(l.out.Files) == maxListed {
		return l.refuse(path, fmt.Sprintf("more than %d files", maxListed))
	}
	if l.names += len(path); l.names > maxListNames {
		return l.refuse(path[:min(len(path), 64)]+"…", fmt.Sprintf("more than %d bytes of paths", maxListNames))
	}
	l.out.Files = append(l.out.Files, File{path, FileMode(e.Mode), e.Hash})
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
	entries, err := Entries(l.from, id)
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
	return &TreeError{Tree: l.out.Root.String(), Path: path, Reason: reason}
}

// FileMode is the mode a file is written with: git's old group-writable files count as ordinary ones.
func FileMode(m filemode.FileMode) filemode.FileMode {
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
	case gitname.IsDotGit(e.Name):
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
