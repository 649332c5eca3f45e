package gitdiff

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

const (
	maxRevision = 1024 // bytes of a revision's text
	maxPeel     = 32   // tags that point to tags
)

// RevisionError is returned by [Repo.Resolve] for a revision that names no commit.
type RevisionError struct {
	Revision string // as it was given
	Reason   string // why it names none
}

func (e *RevisionError) Error() string { return fmt.Sprintf("revision %q: %s", e.Revision, e.Reason) }

// Resolve returns the commit that rev names: a full or abbreviated id, a branch, a tag (annotated ones are followed), a
// remote branch, HEAD or @, each with any number of ~N, ^N and ^{commit} behind it. Searches (:/text) and reflog
// entries (@{1}) are refused: what they name depends on more than the repository's history.
//
// The error is [ErrUnborn], a [*RevisionError], a [*gitobj.MissingError], or one of reading the repository.
func (r *Repo) Resolve(ctx context.Context, rev string) (Commit, error) {
	c, err := r.resolve(ctx, rev)
	if err != nil {
		return Commit{}, fmt.Errorf("resolve: %w", err)
	}
	return commitOf(c), nil
}

func (r *Repo) resolve(ctx context.Context, rev string) (*object.Commit, error) {
	if len(rev) > maxRevision {
		return nil, &RevisionError{rev[:64] + "…", "too long"}
	}
	name, steps := rev, ""
	if i := strings.IndexAny(rev, "~^"); i >= 0 {
		name, steps = rev[:i], rev[i:]
	}
	if name == "@" {
		name = "HEAD"
	}
	if name == "" || strings.HasPrefix(name, "-") || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.ContainsAny(name, ":?*[\\ \x7f") || strings.IndexFunc(name, func(c rune) bool { return c < ' ' }) >= 0 {
		return nil, &RevisionError{rev, "not a name or id of a commit"}
	}
	id, err := r.lookup(name)
	if err != nil {
		if errors.Is(err, plumbing.ErrReferenceNotFound) {
			return nil, &RevisionError{rev, "no such branch, tag or commit"}
		}
		return nil, err
	}
	c, err := r.peel(rev, id)
	for err == nil && steps != "" {
		if err = context.Cause(ctx); err == nil {
			c, steps, err = r.step(ctx, rev, c, steps)
		}
	}
	return c, err
}

// lookup finds the object a bare name stands for, in git's order: a full id, a reference, an abbreviated id.
func (r *Repo) lookup(name string) (plumbing.Hash, error) {
	if id, err := gitobj.ParseID(name); err == nil {
		return id, nil
	}
	id, err := r.Reference(name)
	if !errors.Is(err, plumbing.ErrReferenceNotFound) {
		return id, err
	}
	return r.abbreviated(name)
}

// abbreviated finds the one commit or tag whose id begins with four or more hex digits.
func (r *Repo) abbreviated(name string) (plumbing.Hash, error) {
	prefix, err := hex.DecodeString(strings.ToLower(name[:len(name)&^1]))
	if err != nil || len(name) < 4 || len(name) > 40 {
		return plumbing.ZeroHash, plumbing.ErrReferenceNotFound
	}
	ids, err := r.objects.prefixed(prefix)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	found := plumbing.ZeroHash
	for _, id := range ids {
		if !strings.HasPrefix(id.String(), strings.ToLower(name)) {
			continue
		}
		obj, err := r.objects.EncodedObject(plumbing.AnyObject, id)
		if err != nil {
			return plumbing.ZeroHash, gitobj.ReadError(id, err)
		}
		if t := obj.Type(); t != plumbing.CommitObject && t != plumbing.TagObject {
			continue
		}
		if found != plumbing.ZeroHash {
			return found, &RevisionError{name, "the abbreviation is ambiguous"}
		}
		found = id
	}
	if found == plumbing.ZeroHash {
		return found, plumbing.ErrReferenceNotFound
	}
	return found, nil
}

// peel follows tags to the commit they end at.
func (r *Repo) peel(rev string, id plumbing.Hash) (*object.Commit, error) {
	for range maxPeel {
		obj, err := r.objects.EncodedObject(plumbing.AnyObject, id)
		if err != nil {
			return nil, gitobj.ReadError(id, err)
		}
		switch obj.Type() {
		case plumbing.CommitObject:
			c := new(object.Commit)
			if err := c.Decode(obj); err != nil {
				return nil, gitobj.ReadError(id, err)
			}
			return c, nil
		case plumbing.TagObject:
			t := new(object.Tag)
			if err := t.Decode(obj); err != nil {
				return nil, gitobj.ReadError(id, err)
			}
			id = t.Target
		default:
			return nil, &RevisionError{rev, "it names a " + obj.Type().String() + ", not a commit"}
		}
	}
	return nil, &RevisionError{rev, "too many tags of tags"}
}

// step takes the first of steps (~N, ^N, ^{} or ^{commit}) from c and returns the steps that are left.
func (r *Repo) step(ctx context.Context, rev string, c *object.Commit, steps string) (*object.Commit, string, error) {
	for _, same := range []string{"^{}", "^{commit}"} {
		if rest, ok := strings.CutPrefix(steps, same); ok {
			return c, rest, nil
		}
	}
	kind, rest := steps[0], strings.TrimLeft(steps[1:], "0123456789")
	digits := steps[1 : len(steps)-len(rest)]
	n := 1
	if digits != "" {
		var err error
		if n, err = strconv.Atoi(digits); err != nil {
			return nil, "", &RevisionError{rev, "number out of range"}
		}
	}
	if rest != "" && rest[0] != '~' && rest[0] != '^' {
		return nil, "", &RevisionError{rev, "not a name or id of a commit"}
	}
	if kind == '^' {
		if n == 0 {
			return c, rest, nil
		}
		c, err := r.parent(rev, c, n)
		return c, rest, err
	}
	for ; n > 0; n-- {
		if err := context.Cause(ctx); err != nil {
			return nil, "", err
		}
		var err error
		if c, err = r.parent(rev, c, 1); err != nil {
			return nil, "", err
		}
	}
	return c, rest, nil
}

// parent is the nth parent of c, counted from one. A shallow clone ends where a parent is recorded but not there.
func (r *Repo) parent(rev string, c *object.Commit, n int) (*object.Commit, error) {
	if n > len(c.ParentHashes) {
		return nil, &RevisionError{rev, "the history does not reach that far"}
	}
	p, err := r.peel(rev, c.ParentHashes[n-1])
	if missing := (*gitobj.MissingError)(nil); errors.As(err, &missing) {
		return nil, &RevisionError{rev, "the history does not reach that far in this shallow clone"}
	}
	return p, err
}
