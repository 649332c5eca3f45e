package runner

import (
	"context"
	"fmt"

	"sandboxrun/gitdiff/change"
	"sandboxrun/internal/floor"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/scan"
)

var (
	stepSnapshot = step.Define("tree/snapshot")
	stepPatch    = step.Define("patch/write")
)

// skipSnapshot says that there is no tree to capture. A tree whose box could not
// be removed is not captured: it may still change under the reader.
func skipSnapshot(x *run) bool { return x.trees.Working == nil || x.boxes.Left() }

// snapshot captures the tree that the work left behind, now that nothing runs on
// it any more, and records its difference from the base.
func snapshot(ctx context.Context, x *run) error {
	step.Before(stepSnapshot)
	snap, err := x.trees.Working.Snapshot(ctx, captureBudget(x.r.o.Config.Land, x.trees.Limits.FreeBytes))
	step.After(stepSnapshot)
	if err != nil {
		return fmt.Errorf("capture tree: %w", err)
	}
	diff, err := change.Compare(ctx, x.trees.Objects, x.base.Tree, snap.Tree)
	if err != nil {
		return fmt.Errorf("compare trees: %w", err)
	}
	x.change.snapshot, x.change.diff = snap, diff
	x.record.Steps.WriteTree(snap.Tree)
	for _, c := range diff.Changes {
		x.record.Log.Emit("snapshot", journal.FileChanged{FileChange: fileChange(c)})
	}
	if err := x.change.inspect(ctx, x.r.o.Config.Land, &x.report.findings); err != nil {
		return err
	}
	if x.change.any() {
		step.Before(stepPatch)
		err := x.change.writePatch(ctx, x.record.Dir.PatchPath(), floor.New(x.trees.State.Dir(), x.trees.Limits.FreeBytes), x.scanPolicy(), &x.report.findings)
		step.After(stepPatch)
		return err
	}
	if !x.report.stopped { // else the reason why the work stopped is reported
		x.report.add(issue(document.CodeNoChanges, document.KindOfIssue(document.CodeNoChanges).Meaning))
	}
	return nil
}

func (x *run) scanPolicy() scan.Policy {
	return scan.Policy{Secrets: x.record.Secrets, Allowed: x.r.o.Config.Land.AllowSecrets}
}
