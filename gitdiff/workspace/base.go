package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/internal/step"
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

// openBase returns the pristine base of a commit for an owner, locked against eviction, and makes it if there is none yet.
// Runners that want the same one wait for the first to make it.
func openBase(ctx context.Context, o *gitdiff.Objects, c gitdiff.Commit, own owner) (*base, error) {
	if _, err := gitobj.ParseID(c.ID); err != nil {
		return nil, err
	}
	parent := filepath.Join(o.Store().Dir(), "bases", o.Key())
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	dir := filepath.Join(parent, fmt.Sprintf("%s-%d-%d", c.ID, own.uid, own.gid))
	for {
		held, err := lock(ctx, dir+".lock", true)
		if err != nil {
			return nil, err
		}
		info, err := readBase(dir, c)
		if err == nil {
			return &base{dir: dir, lock: held, baseInfo: info}, held.touch()
		}
		if err := held.unlock(); err != nil {
			return nil, err
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if err := makeBase(ctx, o, c, own, dir); err != nil {
			return nil, fmt.Errorf("make base of %s: %w", c.ID, err)
		}
	}
}

// readBase reads the description of a finished base. The error wraps os.ErrNotExist when there is none.
func readBase(dir string, c gitdiff.Commit) (baseInfo, error) {
	var info baseInfo
	text, err := os.ReadFile(filepath.Join(dir, "base.json"))
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return info, fmt.Errorf("%s: %w", dir, err)
	}
	if info.Version != baseVersion {
		return info, fmt.Errorf("%s: version %d: %w", dir, info.Version, os.ErrNotExist)
	}
	if info.Commit != c.ID || info.Tree != c.Tree {
		return info, fmt.Errorf("base of %s with tree %s is not the commit %s with tree %s", info.Commit, info.Tree, c.ID, c.Tree)
	}
	return info, nil
}

// makeBase makes a base under the exclusive lock, unless another runner has made it in the meantime.
func makeBase(ctx context.Context, o *gitdiff.Objects, c gitdiff.Commit, own owner, dir string) (err error) {
	held, err := lock(ctx, dir+".lock", false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.unlock()) }()
	if _, err := readBase(dir, c); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	building := dir + ".building"
	for _, old := range []string{building, dir} { // of a runner that died, or of another version
		if err := RemoveTree(old); err != nil {
			return err
		}
	}
	step.Before(StepBaseBuild)
	err = buildBase(ctx, o, c, own, building)
	step.After(StepBaseBuild)
	if err != nil {
		return errors.Join(err, RemoveTree(building))
	}
	step.Before(StepBaseAppear)
	defer step.After(StepBaseAppear)
	return os.Rename(building, dir)
}
