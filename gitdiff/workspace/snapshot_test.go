package workspace

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// The same work in a workspace of either layout gives the same tree, and so does none.
func TestSnapshotOfBothLayouts(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n", "d/x": "x\n", "d/y": "y\n", "gone": "g\n", ".gitignore": "*.log\n"})
	base := b.Head(t)
	dirty := b.Box(t)
	gitdifftest.WriteFiles(t, dirty, map[string]string{"dirty": "1\n", "d/x": "dirty\n"})
	gitdifftest.Must(t, os.Remove(filepath.Join(dirty, "gone")))
	gitdifftest.WriteFiles(t, dirty, map[string]string{"forced.log": "added in spite of the rules\n"})
	// From nothing, so that no ignore rules are in force.
	s, err := capture.Capture(t.Context(), capture.Source{Root: dirty, Objects: b.Objects, Budget: capture.DefaultBudget()})
	gitdifftest.Must(t, err)
	for name, tree := range map[string]string{"the base": base.Tree, "uncommitted work": s.Tree} {
		for _, layout := range []Layout{LayoutOverlay, LayoutCopy} {
			t.Run(string(layout)+" over "+name, func(t *testing.T) {
				t.Parallel()
				w := mustWorkspace(t, b.Objects, layout, base, tree)
				s, err := w.Snapshot(t.Context(), capture.DefaultBudget())
				gitdifftest.Must(t, err)
				gitdifftest.Equal(t, "tree without work", s.Tree, tree)
				gitdifftest.Equal(t, "findings without work", codes(s), []string(nil))
				root := w.WatchDir()
				gitdifftest.WriteFiles(t, root, map[string]string{"a": "edited\n", "new/file": "n\n", "new.log": "l\n"})
				s, err = w.Snapshot(t.Context(), capture.DefaultBudget())
				gitdifftest.Must(t, err)
				gitdifftest.Equal(t, "work", differing(t, b, tree, s.Tree), "modified a; added new/file; ")
				gitdifftest.Equal(t, "findings", codes(s), []string{"hidden_by_ignore new.log"})
			})
		}
	}
}

// codes are the findings of a snapshot as "code path" lines.
func codes(s *capture.Snapshot) []string {
	var lines []string
	for _, f := range s.Findings {
		lines = append(lines, string(f.Code)+" "+f.Path)
	}
	return lines
}

// differing is what differs between two trees, in one line.
func differing(t testing.TB, b *workbench.Bench, from, to string) (text string) {
	t.Helper()
	d, err := change.Compare(t.Context(), b.Objects, from, to)
	gitdifftest.Must(t, err)
	for _, c := range d.Changes {
		text += string(c.Type) + " " + c.Name + "; "
	}
	return text
}

// T01 in a workspace: a change that puts size and time back is still seen, as the time of the change itself cannot be.
func TestSnapshotSeesAChangeWithItsTimeRestored(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "aaaa\n", "b": "b\n"})
	w := mustWorkspace(t, b.Objects, LayoutCopy, b.Head(t), "")
	w.stat.End(time.Now().Add(time.Second)) // as if the box had started later: all is old enough to be trusted
	path := filepath.Join(w.WatchDir(), "a")
	info, err := os.Stat(path)
	gitdifftest.Must(t, err)
	gitdifftest.Must(t, os.WriteFile(path, []byte("bbbb\n"), 0o644))
	gitdifftest.Must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	s, err := w.Snapshot(t.Context(), capture.DefaultBudget())
	gitdifftest.Must(t, err)
	gitdifftest.Equal(t, "changes", differing(t, b, b.Head(t).Tree, s.Tree), "modified a; ")
	gitdifftest.Equal(t, "bytes read", s.Bytes, int64(5))
}
