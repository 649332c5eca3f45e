package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/check"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/reader"
	"sandboxrun/runner/scan"
)

// captured is the difference that the work left behind, and what it means for those
// who check it out.
type captured struct {
	snapshot *capture.Snapshot // nil before the tree was captured
	diff     *change.Diff      // likewise
	leaks    scan.Leaks
	searched bool              // for secrets
	refused  []gitdiff.Finding // what keeps the change from landing
	unread   bool              // not all of it could be read; what is known is true
	patched  bool              // the patch has all of it
	// refusedByGit says that git itself refuses the new objects.
	refusedByGit bool
}

// captured says that the tree was captured and compared with the base.
func (c *captured) captured() bool { return c.diff != nil }

// any says that something changed.
func (c *captured) any() bool { return c.diff != nil && len(c.diff.Changes) > 0 }

// inspected reports what the captured tree could not hold and what the change does
// to those who check it out, as far as the user's policy lets it.
func (c *captured) inspected(in *change.Inspection, land config.Land, report *findings) {
	all := slices.Concat(in.Findings, c.snapshot.Findings)
	for i := range all {
		if all[i].Grade = gradeOf(land, all[i]); all[i].Grade == gitdiff.Refuse {
			c.refused = append(c.refused, all[i])
		}
	}
	report.refuseFindings(c.refused)
	slices.SortStableFunc(all, func(a, b gitdiff.Finding) int { return int(b.Grade - a.Grade) })
	for _, f := range all {
		report.add(findingIssue(f))
	}
	report.omitted += c.snapshot.Dropped + in.Dropped
}

// read has a child capture and read what the work left behind, takes over what it
// found out, and stops it. After an error the change holds what was known
// before; it is not to be landed, and has no patch.
func (f *facts) read(ctx context.Context, o Options, child *reader.Child, w reader.Work, tell reader.Progress) error {
	w.From, w.MaxFile = f.base.Tree, int64(cmp.Or(o.Config.Land.MaxFile, config.DefaultMaxFile))
	w.Search = scan.Policy{Secrets: f.record.Secrets, Allowed: o.Config.Land.AllowSecrets}
	w.Patch, w.FreeBytes = f.record.Dir.PatchPath(), f.plan.Box.Limits.FreeBytes
	got, err := child.Read(ctx, w, tell)
	child.Stop()
	f.change.unread = err != nil
	f.change.took(got, w.To, o.Config.Land, &f.report.findings)
	if f.change.patched = err == nil && got.Patched; f.change.patched {
		return nil
	}
	if rerr := os.Remove(w.Patch); !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// took takes over what a reading found out, of the tree that had been captured
// before if it was.
func (c *captured) took(got reader.Reading, tree string, land config.Land, report *findings) {
	c.snapshot, c.diff = got.Snapshot, got.Diff
	if c.snapshot == nil && tree != "" {
		c.snapshot = &capture.Snapshot{Tree: tree}
	}
	if got.Inspection != nil {
		c.inspected(got.Inspection, land, report)
		c.reportLitter(report)
	}
	if got.Leaks != nil {
		c.leaks, c.searched = *got.Leaks, true
		c.reportLeaks(report)
	}
}

// secrets is what the search for secrets found, as checks see it; nil where there was none.
func (c *captured) secrets() *check.Secrets {
	if !c.searched {
		return nil
	}
	s := &check.Secrets{Further: c.leaks.Further}
	for _, p := range c.leaks.Places {
		s.Paths = append(s.Paths, p.Path)
	}
	if c.leaks.Incomplete != nil {
		s.Incomplete = c.leaks.Incomplete.Error()
	}
	return s
}

// maxLitterNamed bounds the places that one issue names.
const maxLitterNamed = 10

// reportLitter names what of the change tools left behind. It stays in the change: a name proves nothing.
func (c *captured) reportLitter(report *findings) {
	if c.diff == nil {
		return
	}
	places, files := c.diff.Litter()
	if files == 0 {
		return
	}
	var shown []string
	for _, p := range places[:min(len(places), maxLitterNamed)] {
		shown = append(shown, excerpt.Clip(fmt.Sprintf("%q", p), 200))
	}
	text := fmt.Sprintf("%d new files look like what tools leave behind: %s", files, strings.Join(shown, ", "))
	if more := len(places) - len(shown); more > 0 {
		text += fmt.Sprintf(", and %d more places", more)
	}
	report.add(issue(document.CodeLitter, text))
}

// reportLeaks reports what a search for secrets found.
func (c *captured) reportLeaks(report *findings) {
	for _, p := range c.leaks.Places {
		report.add(issue(document.CodeSecretInDiff, p.What).withPath(p.Path).withAction(p.Action))
	}
	if n := c.leaks.Further; n > 0 {
		report.add(issue(document.CodeSecretInDiff, fmt.Sprintf("%d further places hold or look like secrets", n)))
	}
	if c.leaks.Incomplete != nil {
		report.add(issue(document.CodeScanIncomplete, "the change was not searched for secrets as a whole: "+c.leaks.Incomplete.Error()))
	}
}

// gradeOf is what a finding means after the user's say. What git itself refuses,
// or what attacks whoever runs git on it, nobody can permit.
func gradeOf(l config.Land, f gitdiff.Finding) gitdiff.Grade {
	switch {
	case slices.Contains(l.Refuse, string(f.Code)), f.Class != "" && slices.Contains(l.Refuse, f.Class):
		return gitdiff.Refuse
	case f.Grade == gitdiff.Refuse && slices.Contains(l.Permit, string(f.Code)):
		return gitdiff.Flaw
	}
	return f.Grade
}

// captureBudget bounds a capture; a file the user does not mind is not left out.
func captureBudget(l config.Land, freeBytes int64) capture.Budget {
	b := capture.DefaultBudget()
	b.FreeBytes = freeBytes
	b.FileBytes = max(b.FileBytes, int64(l.MaxFile))
	b.TotalBytes = max(b.TotalBytes, b.FileBytes)
	return b
}

// findingIssue says what a finding means for the run: what keeps it from
// landing, misleads people or could not be captured in full is a flaw.
func findingIssue(f gitdiff.Finding) found {
	i := issue(string(f.Code), cmp.Or(f.Detail, string(f.Code))).withPath(strings.ToValidUTF8(f.Path, "\ufffd"))
	i.Type = document.IssueConflict
	if f.Grade == gitdiff.Refuse {
		i = i.withAction("have this path changed or removed; as it is, the change does not land")
	}
	if f.Grade == gitdiff.Note {
		return i.withSeverity(document.SeverityNote)
	}
	return i.withSeverity(document.SeverityFlaw)
}

// maxListed bounds the changed files of a result, in bytes of their entries. The
// patch has all of them.
const maxListed = 16 << 20

// listed are the entries of a result for the changes, as many as fit into limit
// bytes, and how many do not.
func listed(changes []change.Change, limit int) (list []document.FileChange, omitted int) {
	const fields = 160 // bytes of an entry besides what is counted
	list = []document.FileChange{}
	for i, c := range changes {
		entry := fileChange(c)
		limit -= fields + len(entry.Path) + len(entry.PathB64) + len(entry.OldPath)
		for _, h := range entry.Highlights {
			limit -= len(h)
		}
		if limit < 0 {
			return list, len(changes) - i
		}
		list = append(list, entry)
	}
	return list, 0
}

func fileChange(c change.Change) document.FileChange {
	highlights := c.Highlights
	if highlights == nil {
		highlights = []string{}
	}
	return document.FileChange{Path: c.Path, PathB64: c.PathB64, ChangeType: string(c.Type), Highlights: highlights, OldPath: c.OldPath,
		Additions: c.Additions, Deletions: c.Deletions, Binary: c.Binary, ModeChange: c.ModeChange}
}
