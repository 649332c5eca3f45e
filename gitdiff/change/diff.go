// Package change compares two trees: the changed paths with their lines, renames and sections, the patch, what is new for
// searches, and what a change does to those who check it out.
package change

import (
	"context"
	"fmt"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Compare compares two trees by hex id; an empty id is the empty tree. In-tree attributes, configuration and the clock have
// no part in it. A change of more than 200 000 paths, or of paths with more than 32 MiB, is a [*gitdiff.BudgetError].
func Compare(ctx context.Context, o *gitdiff.Objects, fromTree, toTree string) (*Diff, error) {
	d, err := diffTrees(ctx, o.Storer(), fromTree, toTree)
	if err != nil {
		return nil, fmt.Errorf("diff trees: %w", err)
	}
	return d, nil
}

// List compares the trees alone, as [Compare] does, and reads no content: the changes have names, types, modes and ids, and
// nothing else.
func List(ctx context.Context, o *gitdiff.Objects, fromTree, toTree string) (*Diff, error) {
	d, err := listTrees(ctx, o.Storer(), fromTree, toTree)
	if err != nil {
		return nil, fmt.Errorf("diff trees: %w", err)
	}
	return d, nil
}

func diffTrees(ctx context.Context, st storer.EncodedObjectStorer, fromTree, toTree string) (*Diff, error) {
	d, err := listTrees(ctx, st, fromTree, toTree)
	if err != nil {
		return nil, err
	}
	if err := d.describeAll(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

func listTrees(ctx context.Context, st storer.EncodedObjectStorer, fromTree, toTree string) (*Diff, error) {
	from, err := gitobj.ParseTree(fromTree)
	if err != nil {
		return nil, err
	}
	to, err := gitobj.ParseTree(toTree)
	if err != nil {
		return nil, err
	}
	w := treeDiffer{storer: st}
	if err := w.trees(ctx, "", from, to, 0); err != nil {
		return nil, err
	}
	return &Diff{From: fromTree, To: toTree, Changes: w.sorted(), storer: st}, nil
}

// Describe compares the contents of all changes of a diff that [List] has made.
func (d *Diff) Describe(ctx context.Context) error {
	if err := d.describeAll(ctx); err != nil {
		return fmt.Errorf("diff trees: %w", err)
	}
	return nil
}

func (d *Diff) describeAll(ctx context.Context) error {
	budget := newCompareBudget()
	for i := range d.Changes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := d.describe(&d.Changes[i], budget); err != nil {
			return err
		}
	}
	if err := d.findRenames(ctx); err != nil {
		return fmt.Errorf("find renames: %w", err)
	}
	return nil
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
		if t.note == "" && budget.time > 0 {
			begin := time.Now()
			c.unseen, err = d.hiddenIn(c)
			budget.time -= time.Since(begin)
		}
		return err
	}
	edit := budget.compare(t)
	c.Deletions, c.Additions = edit.counts()
	c.unseen = unseenIn(edit)
	c.Highlights = highlights(c, edit)
	return nil
}
