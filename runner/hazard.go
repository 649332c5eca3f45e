package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sandboxrun/gitdiff"
)

// inspect says what the captured tree could not hold and what the change does
// to those who check it out, as far as the user's policy lets it.
func (x *run) inspect(ctx context.Context) error {
	land := x.r.o.Config.Land
	in, err := x.diff.Inspect(ctx, int64(firstSet(land.MaxFile, defaultMaxFile)))
	if err != nil {
		return fmt.Errorf("inspect change: %w", err)
	}
	all := slices.Concat(in.Findings, x.snapshot.Findings)
	for i := range all {
		if all[i].Grade = land.grade(all[i]); all[i].Grade == gitdiff.Refuse {
			x.refused = append(x.refused, all[i])
		}
	}
	slices.SortStableFunc(all, func(a, b gitdiff.Finding) int { return int(b.Grade - a.Grade) })
	for _, f := range all {
		x.findings.add(findingIssue(f))
	}
	x.findings.omitted += x.snapshot.Dropped + in.Dropped
	return nil
}

// grade is what a finding means after the user's say. What git itself refuses,
// or what attacks whoever runs git on it, nobody can permit.
func (l LandConfig) grade(f gitdiff.Finding) gitdiff.Grade {
	switch {
	case slices.Contains(l.Refuse, string(f.Code)), f.Class != "" && slices.Contains(l.Refuse, f.Class):
		return gitdiff.Refuse
	case f.Grade == gitdiff.Refuse && slices.Contains(l.Permit, string(f.Code)):
		return gitdiff.Flaw
	}
	return f.Grade
}

// budget bounds a capture; a file the user does not mind is not left out.
func (l LandConfig) budget() gitdiff.Budget {
	b := gitdiff.DefaultBudget()
	b.FileBytes = max(b.FileBytes, int64(l.MaxFile))
	b.TotalBytes = max(b.TotalBytes, b.FileBytes)
	return b
}

// findingIssue says what a finding means for the run: what keeps it from
// landing, misleads people or could not be captured in full is a flaw.
func findingIssue(f gitdiff.Finding) (severity, Issue) {
	i := Issue{Type: IssueConflict, Code: string(f.Code), Path: strings.ToValidUTF8(f.Path, "\ufffd"), Description: f.Detail, SuggestedAction: "look at this path before merging"}
	if i.Description == "" {
		i.Description = string(f.Code)
	}
	switch f.Code {
	case gitdiff.HiddenByIgnore:
		i.SuggestedAction = "the repository ignores this path, so it is not part of the result"
	case gitdiff.BidiText, gitdiff.InvisibleText:
		i.SuggestedAction = "look at these lines with an editor that shows such characters"
	default:
	}
	if f.Grade == gitdiff.Refuse {
		i.SuggestedAction = "have this path changed or removed; as it is, the change does not land"
	}
	if f.Grade == gitdiff.Note {
		return note, i
	}
	return flaw, i
}
