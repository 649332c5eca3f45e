// Package apply brings a change into the files of the user's working tree.
//
// A change is written below the working tree alone, and never into a git directory. Every directory on the way to a file
// is opened by itself, without following a link, and compared with the git directories by device and inode; the file
// is read, made and renamed relative to that open directory.
package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
)

// ErrBare is returned by [Apply] for a repository without a working tree.
var ErrBare = errors.New("a bare repository has no working tree")

// ConflictError is returned by [Apply] when the working tree holds something else than the base at paths that would
// change. Nothing was written.
type ConflictError struct {
	Paths []string // raw paths, in the order of the diff
}

func (e *ConflictError) Error() string {
	return "the working tree differs from the base at " + few(e.Paths)
}

// Report says what [Apply] did. Paths are raw.
type Report struct {
	Written []string // paths written or removed, without those that were as they should be already
	Escapes []string // symbolic links that lead out of the tree or into .git, which are never written
	Merged  []string // of Written, those that have lines of the working tree and of the change; only [Merge] makes such
}

// Apply brings a diff into the user's working tree; index and HEAD stay as they are, and nothing is run. Every path must
// be as it is on the From side, byte for byte, or already as on the To side; otherwise nothing is written and the error
// is a [*ConflictError] or an [*UnsafeError]. The report is right also with an error.
func Apply(ctx context.Context, r *gitdiff.Repo, o *gitdiff.Objects, d *change.Diff) (rep Report, err error) {
	return apply(ctx, r, o, d, nil, write)
}

// Try is [Apply] without writing anything: the report says what it would do.
func Try(ctx context.Context, r *gitdiff.Repo, o *gitdiff.Objects, d *change.Diff) (Report, error) {
	return apply(ctx, r, o, d, nil, leave)
}

// What apply does with each change: it writes it, or leaves it.
func write(a *applier, c *change.Change) error { return a.write(c) }
func leave(*applier, *change.Change) error     { return nil }

// apply is Apply and Try, or Merge with a merger.
func apply(ctx context.Context, r *gitdiff.Repo, o *gitdiff.Objects, d *change.Diff, m *merger, do func(*applier, *change.Change) error) (rep Report, err error) {
	if r.Bare() {
		return rep, ErrBare
	}
	root, err := openWorkTree(r)
	if err != nil {
		return rep, fmt.Errorf("apply: %w", err)
	}
	defer func() { err = errors.Join(err, root.close()) }()
	a := newApplier(root, o, d)
	a.merger = m
	todo, err := a.check(ctx)
	rep.Escapes = a.escapes
	if err != nil {
		return rep, fmt.Errorf("apply: %w", err)
	}
	for i := range todo {
		if err := context.Cause(ctx); err != nil {
			return rep, fmt.Errorf("apply: %w", err)
		}
		if err := do(a, &todo[i]); err != nil {
			return rep, fmt.Errorf("apply %q: %w", todo[i].Name, err)
		}
		rep.Written = append(rep.Written, todo[i].Name)
		if a.merged[todo[i].Name] {
			rep.Merged = append(rep.Merged, todo[i].Name)
		}
	}
	return rep, nil
}

// check compares the working tree with the diff and lists what is to be written: deletions first, so that a directory
// can take a file's place and the other way round, and links last, so that none comes to be on the way of a file.
func (a *applier) check(ctx context.Context) ([]change.Change, error) {
	var todo []change.Change
	var conflict ConflictError
	var unsafe UnsafeError
	for i := range a.diff.Changes {
		c := &a.diff.Changes[i]
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		now, err := a.held(c)
		reason := (*pathError)(nil)
		switch {
		case errors.As(err, &reason):
			unsafe.Paths, unsafe.Reasons = append(unsafe.Paths, c.Name), append(unsafe.Reasons, reason.Error())
		case err != nil:
			return nil, fmt.Errorf("read %q: %w", c.Name, err)
		case now == newState(c):
		case now != oldState(c) && a.merger != nil:
			both, ok, err := a.merge(ctx, c, now)
			if err != nil {
				return nil, fmt.Errorf("merge %q: %w", c.Name, err)
			}
			if !ok {
				conflict.Paths = append(conflict.Paths, c.Name)
			} else if now != newState(&both) { // the working tree has the change already
				a.merged[c.Name] = true
				todo = append(todo, both)
			}
		case now != oldState(c) || c.NewMode == submoduleMode:
			conflict.Paths = append(conflict.Paths, c.Name)
		default:
			todo = append(todo, *c)
		}
	}
	if unsafe.Paths != nil {
		return nil, &unsafe
	}
	if conflict.Paths != nil {
		return nil, &conflict
	}
	todo, err := a.leaveEscapes(todo)
	slices.SortStableFunc(todo, func(x, y change.Change) int { return rank(&x) - rank(&y) })
	return todo, err
}

// leaveEscapes takes out the links that lead out of the tree or into .git: whoever edits or runs a file through one
// works on something that is not of the tree.
func (a *applier) leaveEscapes(todo []change.Change) ([]change.Change, error) {
	links := slices.DeleteFunc(slices.Clone(todo), func(c change.Change) bool { return c.NewMode != linkMode })
	escapes, err := a.diff.Escapes(links)
	if err != nil {
		return nil, err
	}
	a.escapes = escapes
	left := make(map[string]bool, len(escapes))
	for _, name := range escapes {
		left[name] = true
	}
	return slices.DeleteFunc(todo, func(c change.Change) bool { return left[c.Name] }), nil
}

func rank(c *change.Change) int {
	switch {
	case c.Type == change.Deleted:
		return 0
	case c.NewMode == linkMode:
		return 2
	}
	return 1
}

// Missing lists the raw paths of a diff at which the working tree does not hold what the To side has. It writes nothing.
func Missing(ctx context.Context, r *gitdiff.Repo, o *gitdiff.Objects, d *change.Diff) (paths []string, err error) {
	if r.Bare() {
		return nil, ErrBare
	}
	root, err := openWorkTree(r)
	if err != nil {
		return nil, fmt.Errorf("compare working tree: %w", err)
	}
	defer func() { err = errors.Join(err, root.close()) }()
	a := newApplier(root, o, d)
	for i := range d.Changes {
		c := &d.Changes[i]
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("compare working tree: %w", err)
		}
		now, err := a.held(c)
		if unsafe := (*pathError)(nil); err != nil && !errors.As(err, &unsafe) {
			return nil, fmt.Errorf("read %q: %w", c.Name, err)
		}
		if err != nil || now != newState(c) {
			paths = append(paths, c.Name)
		}
	}
	return paths, nil
}
