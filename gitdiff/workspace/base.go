package workspace

import (
	"errors"
	"path/filepath"
	"time"

	"sandboxrun/internal/step"
)

// Steps of making and removing a base.
var (
	StepBaseBuild  = step.Define("base/build")
	StepBaseAppear = step.Define("base/appear")
	StepBaseEvict  = step.Define("base/evict")
)

// baseVersion is raised when the layout of a base changes; older ones are made anew.
const baseVersion = 1

// base is a pristine checkout of one commit for one owner, shared by all workspaces over it and never written to again:
//
//	tree/         the files
//	git/objects/  a pack of exactly the objects of the commit, for the box to read
//	git/index     the index of tree/
//	base.json     its description; written last: a directory without it is no base
type base struct {
	dir  string
	lock *lockFile // shared while it is in use
	baseInfo
}

// baseInfo is the content of base.json.
type baseInfo struct {
	Version int       `json:"version"`
	Commit  string    `json:"commit"`  // of the user's repository
	Tree    string    `json:"tree"`    // its tree
	Private string    `json:"private"` // the one commit of the repository in the box
	MTime   time.Time `json:"mtime"`   // of every file
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"` // on disk, of the tree and the pack together
}

func (b *base) treeDir() string    { return filepath.Join(b.dir, "tree") }
func (b *base) objectsDir() string { return filepath.Join(b.dir, "git", "objects") }
func (b *base) indexFile() string  { return filepath.Join(b.dir, "git", "index") }

// release ends the use of the base; it may be evicted from then on.
func (b *base) release() error { return errors.Join(b.lock.touch(), b.lock.unlock()) }
