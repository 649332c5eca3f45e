package capture

import (
	"os"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/ignore"
	"sandboxrun/internal/floor"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Budget bounds one capture. Every field but FreeBytes must be positive.
type Budget struct {
	Files      int   // entries of all kinds inspected, directories included
	Names      int64 // bytes of the names of all entries
	Dirs       int   // directories entered
	Depth      int   // directories below the root
	FileBytes  int64 // bytes of one file
	TotalBytes int64 // bytes read from all files
	Findings   int   // findings kept; further ones are only counted
	FreeBytes  int64 // what the disk of the new objects must keep free; 0 for no bound
}

// DefaultBudget suits repositories of some hundred thousand files and changes of a few gigabytes.
func DefaultBudget() Budget {
	return Budget{Files: 600_000, Names: 32 << 20, Dirs: 150_000, Depth: 200, FileBytes: 64 << 20, TotalBytes: 4 << 30, Findings: 500}
}

// Snapshot is the content of a workspace as a git tree, and what could not be part of it.
type Snapshot struct {
	Tree     string            // hex id of the tree, stored in the runner's own object store
	Findings []gitdiff.Finding // in the order of the walk; at most [Budget.Findings]
	Dropped  int               // findings beyond that
	Ignored  int               // new entries the base's ignore rules kept out, a directory counting once
	Files    int               // entries inspected
	Bytes    int64             // bytes read from files
}

// Source is what a capture reads and where it writes.
type Source struct {
	Root     string           // the directory to walk: a whole tree, or the upper layer of an overlay
	Marks    Marks            // of an upper layer over the files of lower, which root is; NoMarks for a whole tree
	Objects  *gitdiff.Objects // hold the trees and take the new objects
	BaseTree plumbing.Hash    // what the box began with; zero for nothing
	Lower    plumbing.Hash    // upper layer only: what shows where it has nothing
	Stat     *Stats           // metadata of the files of BaseTree in Root; nil for none
	Budget   Budget
}

// capturer walks one tree. It opens every entry relative to its directory and never follows a link, so nothing outside
// root is read whatever the tree holds.
type capturer struct {
	Source
	storer storer.EncodedObjectStorer
	blobs  *gitdiff.BlobWriter
	floor  *floor.Floor // nil where the budget has none
	snap   *Snapshot
	dirs   int
	named  int64                                         // bytes of the names that were listed
	modes  int                                           // files with bits git does not keep
	kinds  map[gitdiff.Code]gitdiff.Grade                // codes found, and the gravest grade of each
	trees  map[plumbing.Hash]map[string]object.TreeEntry // see listed
	kept   int                                           // entries of trees
}

// directory is one open directory of the walk.
type directory struct {
	f     *os.File   // nil for one that the upper layer does not have
	above *directory // nil for the root, and where f is nil
	path  string     // "" for the root
	depth int
	base  map[string]object.TreeEntry // what the box began with here
	lower map[string]object.TreeEntry // what shows through here; nothing where it is hidden, or without an overlay
	rules *ignore.Rules
}

// join is the path of a name in the directory. Names are raw bytes, so nothing is cleaned.
func (d *directory) join(name string) string {
	if d.path == "" {
		return name
	}
	return d.path + "/" + name
}
