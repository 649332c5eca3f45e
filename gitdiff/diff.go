package gitdiff

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Bounds of a diff. Beyond the byte bounds a file is compared as a whole, and its [Change.Note] says so.
const (
	maxChanges   = 200_000 // paths in one diff
	maxTextBytes = 8 << 20 // one side of a file compared by line
	maxTextLines = 400_000 // lines of one side
)

// Diff is what differs between two trees.
type Diff struct {
	From, To string   // hex ids of the trees; empty for the empty tree
	Changes  []Change // in the byte order of their names

	storer storer.EncodedObjectStorer
}

// Diff compares two trees by hex id; an empty id is the empty tree. In-tree attributes, configuration and the clock have
// no part in it. A change of more than 200 000 paths is a [*BudgetError].
func (o *Objects) Diff(ctx context.Context, fromTree, toTree string) (*Diff, error) {
	d, err := diffTrees(ctx, o.storer(), fromTree, toTree)
	if err != nil {
		return nil, fmt.Errorf("diff trees: %w", err)
	}
	return d, nil
}

func diffTrees(ctx context.Context, st storer.EncodedObjectStorer, fromTree, toTree string) (*Diff, error) {
	from, err := treeID(fromTree)
	if err != nil {
		return nil, err
	}
	to, err := treeID(toTree)
	if err != nil {
		return nil, err
	}
	w := treeDiffer{storer: st}
	if err := w.trees(ctx, "", from, to, 0); err != nil {
		return nil, err
	}
	d := &Diff{From: fromTree, To: toTree, Changes: w.sorted(), storer: st}
	budget := newCompareBudget()
	for i := range d.Changes {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := d.describe(&d.Changes[i], budget); err != nil {
			return nil, err
		}
	}
	if err := d.findRenames(ctx); err != nil {
		return nil, fmt.Errorf("find renames: %w", err)
	}
	return d, nil
}

// treeID parses a hex id; empty is the zero id.
func treeID(id string) (plumbing.Hash, error) {
	if id == "" {
		return plumbing.ZeroHash, nil
	}
	if !plumbing.IsHash(id) {
		return plumbing.ZeroHash, fmt.Errorf("%q is no object id", clip(id, 64))
	}
	return plumbing.NewHash(id), nil
}

// describe counts the lines of a change and names the sections it touches.
func (d *Diff) describe(c *Change, budget *compareBudget) error {
	t, err := d.load(c)
	if err != nil {
		return fmt.Errorf("%q: %w", c.Name, err)
	}
	if c.textBytes = len(t.old) + len(t.new); !t.binary && !budget.take(c.textBytes) {
		c.unseen = unseenIn(compareLines("", t.new, 0))
		t = texts{binary: true, note: "the change as a whole is too large: not compared by line"}
	}
	c.Binary, c.Note = t.binary, t.note
	if t.binary {
		return nil
	}
	edit := budget.compare(t)
	c.Deletions, c.Additions = edit.counts()
	c.unseen = unseenIn(edit)
	c.Highlights = highlights(c, edit)
	return nil
}
