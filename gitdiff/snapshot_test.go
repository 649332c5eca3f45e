package gitdiff

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The same work in a workspace of either layout gives the same tree, and so does none.
func TestSnapshotOfBothLayouts(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n", "d/x": "x\n", "d/y": "y\n", "gone": "g\n", ".gitignore": "*.log\n"})
	base := b.head(t)
	dirty := b.box(t)
	writeFiles(t, dirty, map[string]string{"dirty": "1\n", "d/x": "dirty\n"})
	must(t, os.Remove(filepath.Join(dirty, "gone")))
	forced := b.source(t, dirty)
	writeFiles(t, dirty, map[string]string{"forced.log": "added in spite of the rules\n"})
	forced.baseTree = emptyTree(t, b)
	s, err := capture(t.Context(), forced)
	must(t, err)
	for name, tree := range map[string]string{"the base": base.Tree, "uncommitted work": s.Tree} {
		for _, layout := range []Layout{LayoutOverlay, LayoutCopy} {
			t.Run(string(layout)+" over "+name, func(t *testing.T) {
				t.Parallel()
				w := mustWorkspace(t, b.objects, layout, base, tree)
				s, err := w.Snapshot(t.Context(), DefaultBudget())
				must(t, err)
				wantEqual(t, "tree without work", s.Tree, tree)
				wantEqual(t, "findings without work", found(s), []string(nil))
				root := w.WatchDir()
				writeFiles(t, root, map[string]string{"a": "edited\n", "new/file": "n\n", "new.log": "l\n"})
				s, err = w.Snapshot(t.Context(), DefaultBudget())
				must(t, err)
				wantEqual(t, "work", treeDiff(t, b, tree, s.Tree), "modified a; added new/file; ")
				wantEqual(t, "findings", found(s), []string{"hidden_by_ignore new.log"})
			})
		}
	}
}

// emptyTree is the id of a tree of nothing, so that no ignore rules are in force.
func emptyTree(t testing.TB, b *bench) (id [20]byte) {
	t.Helper()
	got, err := writeTree(b.objects.storer(), nil, id)
	must(t, err)
	return got
}

// T01 in a workspace: a change that puts size and time back is still seen, as the time of the change itself cannot be.
func TestSnapshotSeesAChangeWithItsTimeRestored(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "aaaa\n", "b": "b\n"})
	w := mustWorkspace(t, b.objects, LayoutCopy, b.head(t), "")
	w.stat.taken += int64(time.Second) // as if the box had started later: all is old enough to be trusted
	path := filepath.Join(w.WatchDir(), "a")
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte("bbbb\n"), 0o644))
	must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	s, err := w.Snapshot(t.Context(), DefaultBudget())
	must(t, err)
	wantEqual(t, "changes", treeDiff(t, b, b.head(t).Tree, s.Tree), "modified a; ")
	wantEqual(t, "bytes read", s.Bytes, int64(5))
}
