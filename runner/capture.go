package runner

import (
	"context"
	"errors"
	"fmt"
	"os"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/step"
)

// capture reads the tree the work left behind, now that nothing runs on it any
// more, and writes its difference from the base down.
func (x *run) capture(ctx context.Context) error {
	done := step.Begin(ctx, stepSnapshot, "")
	snap, err := x.tree.Snapshot(ctx, x.r.o.Config.Land.budget())
	done(err)
	if err != nil {
		return fmt.Errorf("capture tree: %w", err)
	}
	diff, err := x.objects.Diff(ctx, x.base.Tree, snap.Tree)
	if err != nil {
		return fmt.Errorf("compare trees: %w", err)
	}
	x.snapshot, x.diff = snap, diff
	x.steps.fact(factTree, snap.Tree)
	for _, c := range diff.Changes {
		x.log.emit("snapshot", EventFileChanged, fileChange(c))
	}
	if err := x.inspect(ctx); err != nil {
		return err
	}
	if len(diff.Changes) == 0 && x.findings.stopped {
		return nil // whatever stopped the work says why
	}
	if len(diff.Changes) == 0 {
		x.findings.add(note, Issue{Type: IssueUnclearRequirement, Code: "no_changes",
			Description:     "no tracked or new file differs from the base commit",
			SuggestedAction: "nothing to land; check the objective if a change was expected"})
		return nil
	}
	return step.Do(ctx, stepPatch, x.dir.PatchPath(), func() error { return x.writePatch(ctx) })
}

// writePatch writes the change down, unless it holds a known secret.
func (x *run) writePatch(ctx context.Context) error {
	if err := x.scan(ctx); err != nil || x.leaks.known {
		return err
	}
	f, err := os.OpenFile(x.dir.PatchPath(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	if err := errors.Join(x.diff.WritePatch(ctx, f), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return nil
}

func fileChange(c gitdiff.Change) FileChange {
	highlights := c.Highlights
	if highlights == nil {
		highlights = []string{}
	}
	return FileChange{Path: c.Path, PathB64: c.PathB64, ChangeType: string(c.Type), Highlights: highlights, OldPath: c.OldPath,
		Additions: c.Additions, Deletions: c.Deletions, Binary: c.Binary, ModeChange: c.ModeChange}
}
