package land

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/internal/floor"
)

// ErrRefused is returned when git's strict checks or ours refuse the objects of a landing; nothing was landed.
var ErrRefused = errors.New("the objects are refused")

// maxNewCommits bounds the commits of one landing: the landed one, and those before it that the user never got or no
// longer has, such as of a dirty tree or of earlier turns that were not landed.
const maxNewCommits = 2048

// landingSet collects the objects a commit needs beyond those of the user's commits, each after those it names.
type landingSet struct {
	repo    *gitdiff.Repo
	storer  storer.EncodedObjectStorer
	floor   *floor.Floor
	missing []landed
	seen    map[plumbing.Hash]bool
}

type landed struct {
	kind plumbing.ObjectType
	id   plumbing.Hash
}

// commit collects a commit and what it needs. What the user's commits need is in the repository already.
func (s *landingSet) commit(ctx context.Context, id plumbing.Hash, depth int) error {
	has, err := s.userHas(id)
	if has || err != nil {
		return err
	}
	if depth == maxNewCommits {
		return fmt.Errorf("more than %d new commits", maxNewCommits)
	}
	c, err := object.GetCommit(s.storer, id)
	if err != nil {
		return gitobj.ReadError(id, err)
	}
	var before plumbing.Hash
	for i, p := range c.ParentHashes {
		if err := s.commit(ctx, p, depth+1); err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		parent, err := object.GetCommit(s.storer, p)
		if err != nil {
			return gitobj.ReadError(p, err)
		}
		before = parent.TreeHash
	}
	if err := s.tree(ctx, before, c.TreeHash, 0); err != nil {
		return err
	}
	return s.add(plumbing.CommitObject, id)
}

// tree collects a tree, as far as it differs from one whose objects are there. Its new names are checked once more: this
// is the last check before a repository that people check out.
func (s *landingSet) tree(ctx context.Context, before, id plumbing.Hash, depth int) error {
	if id == before || s.seen[id] {
		return nil
	}
	if err := change.CheckDepth(ctx, depth); err != nil {
		return err
	}
	old, err := gitobj.EntriesByName(s.storer, before)
	if err != nil {
		return err
	}
	entries, err := gitobj.Entries(s.storer, id)
	if err != nil {
		return err
	}
	if err := gitobj.CheckOrder(entries); err != nil {
		return fmt.Errorf("%w: tree %s: %w", ErrRefused, id, err)
	}
	for _, e := range entries {
		o, had := old[e.Name]
		if had && o.Hash == e.Hash && o.Mode == gitobj.CurrentMode(e.Mode) {
			continue
		}
		if err := s.checkEntry(o, e); err != nil {
			return fmt.Errorf("%w: tree %s: %w", ErrRefused, id, err)
		}
		switch e.Mode {
		case filemode.Dir:
			var below plumbing.Hash
			if had && o.Mode == filemode.Dir {
				below = o.Hash
			}
			err = s.tree(ctx, below, e.Hash, depth+1)
		case filemode.Submodule:
		default:
			err = s.add(plumbing.BlobObject, e.Hash)
		}
		if err != nil {
			return err
		}
	}
	return s.add(plumbing.TreeObject, id)
}

// alwaysPacked is the size in bytes up to which an object is landed although the user has it: it may be one that nothing
// refers to, and git gc may remove it before the branch is made.
const alwaysPacked = 1 << 20

// add notes an object to be landed.
func (s *landingSet) add(kind plumbing.ObjectType, id plumbing.Hash) error {
	if s.seen[id] {
		return nil
	}
	s.seen[id] = true
	size, err := s.storer.EncodedObjectSize(id)
	if err != nil {
		return gitobj.ReadError(id, err)
	}
	if size > alwaysPacked {
		if has, err := s.userHas(id); err != nil || has {
			return err
		}
	}
	s.missing = append(s.missing, landed{kind, id})
	return nil
}

func (s *landingSet) userHas(id plumbing.Hash) (bool, error) {
	return s.repo.HasObject(id)
}

// checkEntry refuses a new entry that git fsck --strict refuses, by its name, its mode or what git would read from it.
func (s *landingSet) checkEntry(was, e object.TreeEntry) error {
	if err := gitobj.CheckEntry(e); err != nil {
		return err
	}
	if e.Hash.IsZero() {
		return fmt.Errorf("%w: %q names no object", gitobj.ErrTreeEntry, e.Name)
	}
	if len(e.Name) > gitdiff.MaxPath {
		return fmt.Errorf("%w: a name of %d bytes", gitobj.ErrTreeEntry, len(e.Name))
	}
	var judge func(was, now string) []gitdiff.Finding
	switch {
	case !e.Mode.IsFile() || e.Mode == filemode.Symlink:
		return nil
	case gitname.IsDotGitmodules(e.Name):
		judge = change.JudgeModules
	case gitname.IsDotGitattributes(e.Name):
		judge = change.JudgeAttributes
	default:
		return nil
	}
	now, err := gitobj.Content(s.storer, plumbing.BlobObject, e.Hash, change.MaxTextBytes)
	if err != nil {
		return err
	}
	var old []byte
	if was.Mode.IsRegular() {
		if old, err = gitobj.Content(s.storer, plumbing.BlobObject, was.Hash, change.MaxTextBytes); err != nil {
			return err
		}
	}
	for _, f := range judge(string(old), string(now)) {
		if f.Grade == gitdiff.Refuse {
			return fmt.Errorf("%w: %q: %s", gitobj.ErrTreeEntry, e.Name, f.Detail)
		}
	}
	return nil
}
