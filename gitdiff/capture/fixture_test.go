package capture

import (
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// sourceOf is a capture of a plain directory that began as the commit of the repository.
func sourceOf(t testing.TB, b *workbench.Bench, root string) Source {
	t.Helper()
	base := plumbing.NewHash(b.Head(t).Tree)
	return Source{Root: root, Objects: b.Objects, BaseTree: base, Lower: base, Budget: DefaultBudget()}
}

// captured captures a plain directory.
func captured(t testing.TB, b *workbench.Bench, root string) *Snapshot {
	t.Helper()
	s, err := Capture(t.Context(), sourceOf(t, b, root))
	gitdifftest.Must(t, err)
	return s
}

// changed captures a directory and says what changed, as "type path" lines.
func changed(t testing.TB, b *workbench.Bench, root string) (*Snapshot, []string) {
	t.Helper()
	s := captured(t, b, root)
	return s, changes(t, b, b.Head(t).Tree, s.Tree)
}

// changes lists what differs between two trees, as "type path" lines.
func changes(t testing.TB, b *workbench.Bench, from, to string) (lines []string) {
	t.Helper()
	d, err := change.Compare(t.Context(), b.Objects, from, to)
	gitdifftest.Must(t, err)
	for _, c := range d.Changes {
		lines = append(lines, string(c.Type)+" "+c.Name)
	}
	return lines
}

// treeDiff is what differs between two trees, in one line.
func treeDiff(t testing.TB, b *workbench.Bench, from, to string) (text string) {
	t.Helper()
	for _, line := range changes(t, b, from, to) {
		text += line + "; "
	}
	return text
}

// found are the findings of a snapshot as "code path" lines.
func found(s *Snapshot) []string {
	var lines []string
	for _, f := range s.Findings {
		lines = append(lines, string(f.Code)+" "+f.Path)
	}
	return lines
}
