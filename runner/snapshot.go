package runner

import (
	"context"
	"sync"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/reader"
)

var (
	stepSnapshot = step.Define("tree/snapshot")
	stepPatch    = step.Define("patch/write")
)

// skipSnapshot says that there is no tree to capture. A tree whose box could not
// be removed is not captured: it may still change under the reader.
func skipSnapshot(x *run) bool { return x.trees.Working == nil || x.boxes.Left() }

// snapshot captures the tree that the work left behind, now that nothing runs on
// it any more, and records its difference from the base. A process of its own
// reads the tree.
func snapshot(ctx context.Context, x *run) error {
	src, err := x.trees.Working.Source(captureBudget(x.r.o.Config.Land, x.trees.Limits.FreeBytes))
	if err != nil {
		return err
	}
	step.Before(stepSnapshot)
	captured := sync.OnceFunc(func() { step.After(stepSnapshot) })
	searched := false
	if x.child == nil { // there was no box to be closed
		x.child = x.r.o.Reader.Start()
	}
	err = x.read(ctx, x.r.o, x.child, reader.Work{Objects: x.trees.Objects, Source: &src}, reader.Progress{
		Captured: func(s *capture.Snapshot) {
			captured()
			x.record.Steps.WriteTree(s.Tree)
		},
		Compared: func(d *change.Diff) {
			for _, c := range d.Changes {
				x.record.Log.Emit("snapshot", journal.FileChanged{FileChange: fileChange(c)})
			}
		},
		Searched: func() {
			step.Before(stepPatch)
			searched = true
		},
	})
	captured()
	if searched {
		step.After(stepPatch)
	}
	if err == nil && !x.change.any() && !x.report.stopped { // else the reason why the work stopped is reported
		x.report.add(issue(document.CodeNoChanges, document.KindOfIssue(document.CodeNoChanges).Meaning))
	}
	return err
}
