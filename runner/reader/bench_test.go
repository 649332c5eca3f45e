package reader

import (
	"io"
	"testing"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/workspace"
)

// BenchmarkReading reads a small change: in a child that is started for it, and in this process. What the child adds is
// its start; within a run it starts while the box is being closed.
func BenchmarkReading(b *testing.B) {
	b.Run("child", func(b *testing.B) {
		s := newSite(b, workspace.LayoutCopy, baseFiles, edit(b))
		for b.Loop() {
			_, err := read(b, s.work(b, nil), Progress{})
			gitdifftest.Must(b, err)
		}
	})
	b.Run("here", func(b *testing.B) {
		s := newSite(b, workspace.LayoutCopy, baseFiles, edit(b))
		for b.Loop() {
			w := s.work(b, nil)
			snap, err := capture.Capture(b.Context(), *w.Source)
			gitdifftest.Must(b, err)
			diff, err := change.Compare(b.Context(), s.Objects, s.base.Tree, snap.Tree)
			gitdifftest.Must(b, err)
			_, err = diff.Inspect(b.Context(), w.MaxFile)
			gitdifftest.Must(b, err)
			gitdifftest.Must(b, diff.WritePatch(b.Context(), io.Discard))
		}
	})
}
