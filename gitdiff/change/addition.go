package change

import (
	"context"
	"fmt"
	"io"
	"strings"

	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
)

// Addition is what one path of a diff brings that was not there before.
type Addition struct {
	*Change
	Old  string  // the text the path had, or that it was renamed from; "" for none and where Open is set
	Runs []Lines // the added lines, where the content was compared by line
	// Open reads the whole new content, where it was not compared by line; nil
	// otherwise, and where the content as such is not new.
	Open func() (io.ReadCloser, error)
}

// Lines are lines of a text that follow each other.
type Lines struct {
	First int // number of the first, from 1
	Text  string
}

// EachAddition calls visit with what the diff adds, path by path in its order: paths that exist afterwards, also those of
// which only the name or the mode is new. It ends with visit's first error, as it is.
func (d *Diff) EachAddition(ctx context.Context, visit func(Addition) error) error {
	was := map[string]side{} // deleted paths, whose content renamed ones have again
	for i := range d.Changes {
		if c := &d.Changes[i]; !c.new.exists() {
			was[c.Name] = c.old
		}
	}
	budget := newCompareBudget()
	for i := range d.Changes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c := &d.Changes[i]
		if !c.new.exists() {
			continue
		}
		a := Addition{Change: c}
		from, renamed := was[c.OldName]
		if c.old.id != c.new.id && (!renamed || from.id != c.new.id) {
			if err := d.added(&a, from, budget); err != nil {
				return fmt.Errorf("added %q: %w", c.Name, err)
			}
		}
		if err := visit(a); err != nil {
			return err
		}
	}
	return nil
}

// added fills in the content that is new. from is what the path was renamed from, if it was.
func (d *Diff) added(a *Addition, from side, budget *compareBudget) error {
	t, err := d.load(a.Change)
	if err != nil {
		return err
	}
	if t.binary {
		a.Open = func() (io.ReadCloser, error) {
			obj, err := d.storer.EncodedObject(plumbing.BlobObject, a.new.id)
			if err != nil {
				return nil, gitobj.ReadError(a.new.id, err)
			}
			return obj.Reader()
		}
		return nil
	}
	a.Old = t.old
	if from.exists() {
		old, _, err := d.text(from)
		if err != nil {
			return err
		}
		a.Old = string(old)
	}
	edit := budget.compare(t)
	for i := 0; i < len(edit.put); i++ {
		if !edit.put[i] {
			continue
		}
		from := i
		for i < len(edit.put) && edit.put[i] {
			i++
		}
		a.Runs = append(a.Runs, Lines{First: from + 1, Text: strings.Join(edit.new[from:i], "")})
	}
	return nil
}
