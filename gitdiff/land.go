package gitdiff

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"sandboxrun/runner/step"
)

// Landing is one commit to make in a user's repository.
type Landing struct {
	Branch  string // full reference name from [BranchName]
	Parent  Commit // what the tree was made from; an empty ID makes a commit without a parent
	Tree    string // hex id of the tree, in the runner's object store
	Message string // shown in the log; cleaned and cut by [Repo.Land]
	// Trailers are the statements the commit makes about itself, the only ones: what reads like one in the message is not.
	Trailers []Trailer
	When     time.Time // of author and committer
}

// Who signs as author and committer of a landed commit.
const (
	authorName  = "sandboxrun"
	authorEmail = "sandboxrun@localhost"
)

// Land brings a tree into the user's repository: the objects it lacks, one commit, and one new branch pointing to it.
// HEAD, index, work tree, configuration, reflogs and every other reference stay as they are, and no hook runs. The objects
// are there, as one pack, before the branch; a runner that dies between leaves at most a pack nothing refers to, which git
// gc removes in its time.
//
// The error is or wraps [ErrRefused] for objects that must not be in a repository, and [ErrRefExists], [ErrRefLocked] or a
// [*RefConflictError] when the branch cannot be made. With a [*LitterError] the branch exists and the id is its commit's.
func (r *Repo) Land(ctx context.Context, o *Objects, l Landing) (commitID string, err error) {
	id, err := r.land(ctx, o, l)
	if litter := (*LitterError)(nil); errors.As(err, &litter) {
		return id.String(), litter
	}
	if err != nil {
		return "", fmt.Errorf("land %s: %w", clip(l.Branch, 200), err)
	}
	return id.String(), nil
}

func (r *Repo) land(ctx context.Context, o *Objects, l Landing) (plumbing.Hash, error) {
	if err := r.checkRef(l.Branch); err != nil {
		return plumbing.ZeroHash, err
	}
	id, err := o.writeCommit(l)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write commit: %w", err)
	}
	set := landingSet{repo: r, storer: o.storer(), seen: map[plumbing.Hash]bool{}}
	if err := set.commit(ctx, id, 0); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("collect objects: %w", err)
	}
	return id, set.land(ctx, l.Branch, id)
}

// LitterError says that a branch was made, and that something of its making is left in the user's repository: a place for
// packs, or a mark that keeps git gc away from one. A later landing removes both.
type LitterError struct{ Err error }

func (e *LitterError) Error() string { return "clear away after landing: " + e.Err.Error() }

// Unwrap returns what kept it from being removed.
func (e *LitterError) Unwrap() error { return e.Err }

// litter is err as one that does not undo the branch.
func litter(err error) error {
	if err == nil {
		return nil
	}
	return &LitterError{Err: err}
}

// land makes the branch for a commit whose objects are collected: they are there, checked and safe from the user's own
// gc before it is.
func (s *landingSet) land(ctx context.Context, branch string, id plumbing.Hash) (err error) {
	if len(s.missing) == 0 {
		return s.repo.createRef(ctx, branch, id.String())
	}
	var pack *landingPack
	err = step.Do(ctx, StepStage, landingSubject(id.String(), branch), func() (err error) {
		pack, err = s.newPack(id.String())
		return err
	})
	if err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	made := false
	defer func() {
		left := step.Do(ctx, StepUnstage, pack.stage, pack.close)
		if made {
			left = litter(left)
		}
		err = errors.Join(err, left)
	}()
	err = step.Do(ctx, StepObjects, landingSubject(id.String(), branch), func() error {
		if err := s.fill(ctx, pack); err != nil {
			return fmt.Errorf("write objects: %w", err)
		}
		if err := s.strict(ctx, pack); err != nil {
			return err
		}
		if err := pack.publish(ctx); err != nil {
			return errors.Join(fmt.Errorf("publish objects: %w", err), pack.withdraw())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.repo.createRef(ctx, branch, id.String()); err != nil {
		return errors.Join(err, pack.withdraw())
	}
	made = true
	return litter(step.Do(ctx, StepRelease, pack.name, pack.release))
}

// writeCommit stores the commit of a landing beside its tree.
func (o *Objects) writeCommit(l Landing) (plumbing.Hash, error) {
	if !plumbing.IsHash(l.Tree) {
		return plumbing.ZeroHash, fmt.Errorf("%q is no object id", clip(l.Tree, 64))
	}
	if l.When.IsZero() {
		return plumbing.ZeroHash, errors.New("no time given")
	}
	by := object.Signature{Name: authorName, Email: authorEmail, When: l.When}
	c := object.Commit{Author: by, Committer: by, Message: commitMessage(l.Message, l.Trailers), TreeHash: plumbing.NewHash(l.Tree)}
	if l.Parent.ID != "" {
		if !plumbing.IsHash(l.Parent.ID) {
			return plumbing.ZeroHash, fmt.Errorf("%q is no object id", clip(l.Parent.ID, 64))
		}
		c.ParentHashes = []plumbing.Hash{plumbing.NewHash(l.Parent.ID)}
	}
	obj := o.storer().NewEncodedObject()
	if err := c.Encode(obj); err != nil {
		return plumbing.ZeroHash, err
	}
	return o.storer().SetEncodedObject(obj)
}
