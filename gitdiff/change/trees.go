package change

import (
	"cmp"
	"context"
	"slices"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// maxTreeDepth bounds the nesting of trees that are compared; captures stop long before.
const maxTreeDepth = 1024

// treeDiffer compares trees entry by entry and reads only those subtrees that differ. go-git's own comparison refuses
// names a checkout on Windows could not hold.
type treeDiffer struct {
	storer  storer.EncodedObjectStorer
	changes []Change
	names   int // bytes of the changed paths
}

// CheckDepth refuses one more tree below depth others, and goes no further once ctx has ended.
func CheckDepth(ctx context.Context, depth int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if depth > maxTreeDepth {
		return &gitdiff.BudgetError{Code: gitdiff.PathTooDeep, What: "nested trees", Limit: maxTreeDepth}
	}
	return nil
}

// trees compares two trees at a path.
func (w *treeDiffer) trees(ctx context.Context, dir string, from, to plumbing.Hash, depth int) error {
	if from == to {
		return nil
	}
	if err := CheckDepth(ctx, depth); err != nil {
		return err
	}
	was, err := gitobj.EntriesByName(w.storer, from)
	if err != nil {
		return err
	}
	now, err := gitobj.EntriesByName(w.storer, to)
	if err != nil {
		return err
	}
	for name, e := range now {
		if err := w.entry(ctx, dir+name, was[name], e, depth); err != nil {
			return err
		}
	}
	for name, e := range was {
		if _, kept := now[name]; kept {
			continue
		}
		if err := w.entry(ctx, dir+name, e, object.TreeEntry{}, depth); err != nil {
			return err
		}
	}
	return nil
}

// entry compares what two trees have at one path; an empty mode is nothing.
func (w *treeDiffer) entry(ctx context.Context, path string, was, now object.TreeEntry, depth int) error {
	var from, to plumbing.Hash
	a, b := side{was.Mode, was.Hash}, side{now.Mode, now.Hash}
	if was.Mode == filemode.Dir {
		a, from = side{}, was.Hash
	}
	if now.Mode == filemode.Dir {
		b, to = side{}, now.Hash
	}
	if a != b {
		if len(w.changes) == maxChanges {
			return &gitdiff.BudgetError{Code: gitdiff.TooManyFiles, What: "changed paths", Limit: maxChanges}
		}
		if w.names += len(path); w.names > maxNames {
			return &gitdiff.BudgetError{Code: gitdiff.TooManyFiles, What: "bytes of changed paths", Limit: maxNames}
		}
		w.changes = append(w.changes, newChange(path, a, b))
	}
	return w.trees(ctx, path+"/", from, to, depth+1)
}

// sorted returns the changes in the byte order of their names.
func (w *treeDiffer) sorted() []Change {
	slices.SortFunc(w.changes, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return w.changes
}
