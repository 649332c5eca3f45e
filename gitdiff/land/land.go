// Package land brings a tree into the user's repository as one commit on a new branch. It is the only code that writes to a
// git directory of the user. Where the host has git, the objects are checked by "git index-pack --strict" in a repository
// of nothing else.
package land

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/internal/floor"
	"sandboxrun/internal/step"
)

// Landing is one commit to make in a user's repository.
type Landing struct {
	Branch  string         // full reference name from [BranchName]
	Parent  gitdiff.Commit // what the tree was made from; an empty ID makes a commit without a parent
	Tree    string         // hex id of the tree, in the runner's object store
	Message string         // shown in the log; cleaned and cut by [Land]
	// Trailers are the statements the commit makes about itself, the only ones: what reads like one in the message is not.
	Trailers []Trailer
	// Author and Committer are written as they are; [gitdiff.Runner] for the zero value.
	Author, Committer gitdiff.Person
	When              time.Time // of author and committer
	// Journal is called before and after the user's repository may change, so that a later runner can finish or undo a
	// landing whose runner died. Nil is not called.
	Journal step.Journal
	// FreeBytes is what the disk of the repository must keep free while objects are written to it; 0 for no bound.
	FreeBytes int64
}

// Land brings a tree into the user's repository: the objects it lacks, one commit, and one new branch pointing to it.
// HEAD, index, work tree, configuration, reflogs and every other reference stay as they are, and no hook runs. The objects
// are there, as one pack, before the branch; a runner that dies between leaves at most a pack nothing refers to, which git
// gc removes in its time.
//
// The error is or wraps [ErrRefused] for objects that must not be in a repository, and [ErrRefExists], [ErrRefLocked] or a
// [*ConflictError] when the branch cannot be made. With a [*LitterError] the branch exists and the id is its commit's.
func Land(ctx context.Context, r *gitdiff.Repo, o *gitdiff.Objects, l Landing) (commitID string, err error) {
	id, err := landCommit(ctx, r, o, l)
	if litter := (*LitterError)(nil); errors.As(err, &litter) {
		return id.String(), litter
	}
	if err != nil {
		return "", fmt.Errorf("land %s: %w", gitname.Clip(l.Branch, 200), err)
	}
	return id.String(), nil
}

func landCommit(ctx context.Context, r *gitdiff.Repo, o *gitdiff.Objects, l Landing) (plumbing.Hash, error) {
	if err := checkRef(r, l.Branch); err != nil {
		return plumbing.ZeroHash, err
	}
	id, err := writeCommit(o, l)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write commit: %w", err)
	}
	set := landingSet{repo: r, storer: o.Storer(), floor: floor.New(r.CommonDir(), l.FreeBytes), seen: map[plumbing.Hash]bool{}}
	if err := set.commit(ctx, id, 0); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("collect objects: %w", err)
	}
	return id, set.land(ctx, l.Branch, id, l.Journal)
}

// LitterError is returned when a branch was made and temporary files of the landing are left in the user's repository: a directory for
// packs, or a mark that keeps git gc from removing one. A later landing removes both.
type LitterError struct{ Err error }

func (e *LitterError) Error() string { return "clear away after landing: " + e.Err.Error() }

// Unwrap returns what kept it from being removed.
func (e *LitterError) Unwrap() error { return e.Err }

// litter wraps an error that does not undo the branch.
func litter(err error) error {
	if err == nil {
		return nil
	}
	return &LitterError{Err: err}
}

// land makes the branch for a commit whose objects are collected: they are stored, checked and safe from the user's own
// gc before the branch exists.
func (s *landingSet) land(ctx context.Context, branch string, id plumbing.Hash, journal step.Journal) (err error) {
	if len(s.missing) == 0 {
		return createRef(ctx, s.repo, branch, id.String(), journal)
	}
	var pack *landingPack
	done := journal.Begin(StepStage, landingSubject(id.String(), branch))
	pack, err = s.newPack(id.String())
	done(err)
	if err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	made := false
	defer func() {
		step.Before(StepUnstage)
		left := pack.close()
		step.After(StepUnstage)
		if made {
			left = litter(left)
		}
		err = errors.Join(err, left)
	}()
	step.Before(StepObjects)
	err = s.bring(ctx, pack)
	step.After(StepObjects)
	if err != nil {
		return err
	}
	if err := createRef(ctx, s.repo, branch, id.String(), journal); err != nil {
		return errors.Join(err, pack.withdraw())
	}
	made = true
	step.Before(StepRelease)
	err = pack.release()
	step.After(StepRelease)
	return litter(err)
}

// bring writes the objects, has them checked and puts them where git finds them.
func (s *landingSet) bring(ctx context.Context, pack *landingPack) error {
	if err := s.fill(ctx, pack); err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	// The disk takes the files while git checks them: each waits some milliseconds for something else.
	durable := make(chan error, 1)
	go func() { durable <- pack.settle() }()
	err := s.strict(ctx, pack)
	if derr := <-durable; derr != nil {
		err = errors.Join(err, fmt.Errorf("write objects: %w", derr))
	}
	if err != nil {
		return err
	}
	if err := pack.publish(); err != nil {
		return errors.Join(fmt.Errorf("publish objects: %w", err), pack.withdraw())
	}
	return nil
}

// writeCommit stores the commit of a landing next to its tree.
func writeCommit(o *gitdiff.Objects, l Landing) (plumbing.Hash, error) {
	if !plumbing.IsHash(l.Tree) {
		return plumbing.ZeroHash, fmt.Errorf("%q is no object id", gitname.Clip(l.Tree, 64))
	}
	if l.When.IsZero() {
		return plumbing.ZeroHash, errors.New("no time given")
	}
	by := func(p gitdiff.Person) object.Signature {
		p = cmp.Or(p, gitdiff.Runner)
		return object.Signature{Name: p.Name, Email: p.Email, When: l.When}
	}
	c := object.Commit{Author: by(l.Author), Committer: by(l.Committer), Message: commitMessage(l.Message, l.Trailers), TreeHash: plumbing.NewHash(l.Tree)}
	if l.Parent.ID != "" {
		if !plumbing.IsHash(l.Parent.ID) {
			return plumbing.ZeroHash, fmt.Errorf("%q is no object id", gitname.Clip(l.Parent.ID, 64))
		}
		c.ParentHashes = []plumbing.Hash{plumbing.NewHash(l.Parent.ID)}
	}
	obj := o.Storer().NewEncodedObject()
	if err := c.Encode(obj); err != nil {
		return plumbing.ZeroHash, err
	}
	return o.Storer().SetEncodedObject(obj)
}

// StoreCommit makes the commit of a landing without landing it: in the store only, with no branch. A later workspace can
// start from it, and a later landing on top of it brings it along.
func StoreCommit(o *gitdiff.Objects, l Landing) (gitdiff.Commit, error) {
	id, err := writeCommit(o, l)
	if err != nil {
		return gitdiff.Commit{}, fmt.Errorf("store commit: %w", err)
	}
	return gitdiff.Commit{ID: id.String(), Tree: l.Tree, Time: l.When.UTC().Truncate(time.Second)}, nil
}
