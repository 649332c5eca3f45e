package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"sandboxrun/gitdiff"
)

// capture reads the tree the work left behind, now that nothing runs on it any
// more, and writes its difference from the base down.
func (x *run) capture(ctx context.Context) error {
	snap, err := x.tree.Snapshot(ctx, gitdiff.DefaultBudget())
	if err != nil {
		return fmt.Errorf("capture tree: %w", err)
	}
	diff, err := x.objects.Diff(ctx, x.base.Tree, snap.Tree)
	if err != nil {
		return fmt.Errorf("compare trees: %w", err)
	}
	x.snapshot, x.diff = snap, diff
	for _, c := range diff.Changes {
		x.log.emit("snapshot", EventFileChanged, fileChange(c))
	}
	for _, f := range snap.Findings {
		x.findings.add(findingIssue(f))
	}
	x.findings.omitted += snap.Dropped
	if len(diff.Changes) == 0 && x.findings.stopped {
		return nil // whatever stopped the work says why
	}
	if len(diff.Changes) == 0 {
		x.findings.add(note, Issue{Type: IssueUnclearRequirement, Code: "no_changes",
			Description:     "no tracked or new file differs from the base commit",
			SuggestedAction: "nothing to land; check the objective if a change was expected"})
		return nil
	}
	return x.writePatch(ctx)
}

func (x *run) writePatch(ctx context.Context) error {
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

// findingIssue says what an oddity of the captured tree means for the run:
// what was captured in full is a note, what could not be is a flaw.
func findingIssue(f gitdiff.Finding) (severity, Issue) {
	i := Issue{Type: IssueConflict, Code: string(f.Code), Path: strings.ToValidUTF8(f.Path, "\ufffd"), Description: f.Detail, SuggestedAction: "look at this path before merging"}
	if i.Description == "" {
		i.Description = string(f.Code)
	}
	switch f.Code {
	case gitdiff.HiddenByIgnore:
		i.SuggestedAction = "the repository ignores this path, so it is not part of the result"
		return note, i
	case gitdiff.SymlinkEscapes, gitdiff.DangerousPath, gitdiff.NestedRepository:
		return note, i // captured in full
	default:
		return flaw, i
	}
}
