package change

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/go-git/go-git/v5/plumbing"
)

// WritePatch writes the diff in git's format, one file after the other: `git apply` on From gives To. Binary content and
// texts too large to compare are whole ("GIT binary patch", literal). Renames are a deletion and a creation.
func (d *Diff) WritePatch(ctx context.Context, w io.Writer) error {
	budget := newCompareBudget()
	out := bufio.NewWriterSize(w, 64<<10)
	for i := range d.Changes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := d.writeChange(out, &d.Changes[i], budget); err != nil {
			return fmt.Errorf("write patch: %q: %w", d.Changes[i].Name, err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return nil
}

func (d *Diff) writeChange(w *bufio.Writer, c *Change, budget *compareBudget) error {
	if c.retyped() {
		gone, come := newChange(c.Name, c.old, side{}), newChange(c.Name, side{}, c.new)
		if err := d.writeFile(w, &gone, budget); err != nil {
			return err
		}
		return d.writeFile(w, &come, budget)
	}
	return d.writeFile(w, c, budget)
}

// writeFile writes the part of a patch about one path that is one kind of thing.
func (d *Diff) writeFile(w *bufio.Writer, c *Change, budget *compareBudget) error {
	t, err := d.load(c)
	if err != nil {
		return err
	}
	file := patchHeader(c)
	if !t.binary && c.old.id != c.new.id {
		file.TextFragments = budget.compare(t).hunks(sectionsOf(c.Name))
	}
	if _, err := w.WriteString(markSpaces(file)); err != nil {
		return err
	}
	if !t.binary || c.old.id == c.new.id {
		return nil
	}
	if _, err := w.WriteString("GIT binary patch\n"); err != nil {
		return err
	}
	for _, s := range []side{c.new, c.old} { // the change, then the way back
		if err := d.writeLiteral(w, s); err != nil {
			return err
		}
	}
	return nil
}

// patchHeader is the head of a path's part of a patch.
func patchHeader(c *Change) *gitdiff.File {
	zero := plumbing.ZeroHash.String()
	f := &gitdiff.File{
		OldName: c.Name, NewName: c.Name,
		OldMode: os.FileMode(c.old.mode), NewMode: os.FileMode(c.new.mode),
		OldOIDPrefix: c.OldID, NewOIDPrefix: c.NewID,
	}
	switch {
	case !c.old.exists():
		f.IsNew, f.OldName, f.OldOIDPrefix = true, "", zero
	case !c.new.exists():
		f.IsDelete, f.NewName, f.NewOIDPrefix = true, "", zero
	case f.OldMode == f.NewMode:
		f.NewMode = 0 // stated once, next to the ids
	}
	if c.old.id == c.new.id {
		f.OldOIDPrefix, f.NewOIDPrefix = "", ""
	}
	return f
}

// markSpaces formats a file's part. Git ends a name that has a space with a tab on the lines before the hunks, so that
// other tools see where it ends.
func markSpaces(f *gitdiff.File) string {
	text := f.String()
	if len(f.TextFragments) == 0 || !strings.Contains(f.OldName+f.NewName, " ") {
		return text
	}
	head, hunks, _ := strings.Cut(text, "\n@@ ")
	var b strings.Builder
	for line := range strings.Lines(head + "\n") {
		name, isName := strings.CutSuffix(line, "\n")
		if isName && (strings.HasPrefix(line, "--- a/") || strings.HasPrefix(line, "+++ b/")) {
			line = name + "\t\n"
		}
		b.WriteString(line)
	}
	return b.String() + "@@ " + hunks
}
