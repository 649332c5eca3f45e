package runner

import (
	"fmt"
	"slices"

	"sandboxrun/runner/document"
)

// maxIssues bounds the issues of one result; a hostile tree can cause millions.
const maxIssues = 200

// found is one issue of a run and what it means for the status.
type found struct {
	severity document.Severity
	document.Issue
}

// issue begins an issue with the usual severity and action of its code.
func issue(code, description string) found {
	k := document.KindOfIssue(code)
	return found{severity: k.Severities[0], Issue: document.Issue{Type: k.Type, Code: code, Description: description, SuggestedAction: k.Action}}
}

// withSeverity gives the issue another severity of its kind.
func (f found) withSeverity(s document.Severity) found { f.severity = s; return f }

// withAction replaces the suggested action.
func (f found) withAction(action string) found { f.SuggestedAction = action; return f }

// withPath names the file the issue is about.
func (f found) withPath(path string) found { f.Path = path; return f }

// findings collects the issues of a run and what they mean for it.
type findings struct {
	list        []found
	worst       document.Severity
	omitted     int  // issues beyond maxIssues
	stopped     bool // a phase failed: no more work, only the phases that are owed
	limited     bool // a limit of the box or the task ended the work
	interrupted bool // a person or a supervisor ended the work
	refusals    []document.Refusal
}

func (f *findings) add(i found) {
	f.worst = max(f.worst, i.severity)
	if slices.Contains(refusing, i.Code) {
		f.refuse(document.Refusal{Code: i.Code, Path: i.Path, Description: i.Description})
	}
	if len(f.list) >= maxIssues {
		f.omitted++
		lesser, least := -1, i.severity
		for at, have := range slices.Backward(f.list) {
			if have.severity < least {
				lesser, least = at, have.severity
			}
		}
		if lesser < 0 {
			return
		}
		f.list = slices.Delete(f.list, lesser, lesser+1) // a flood of notes hides nothing graver
	}
	f.list = append(f.list, i)
}

// halted says that no box of this run may be started any more.
func (f *findings) halted() bool {
	return f.limited || f.interrupted || f.worst == document.SeverityFatal
}

// status folds the issues: any flaw makes a run partial, a fatal one, or a
// fruitless one on an unchanged tree, makes it failed.
func (f *findings) status(changed bool) document.Status {
	switch {
	case f.worst == document.SeverityFatal, f.worst == document.SeverityFruitless && !changed:
		return document.StatusFailed
	case f.worst >= document.SeverityFlaw:
		return document.StatusPartial
	}
	return document.StatusSuccess
}

// sorted returns the issues with the gravest first, otherwise in the order they
// were found: what a run died of comes before what followed from it.
func (f *findings) sorted() []document.Issue {
	list := slices.Clone(f.list)
	slices.SortStableFunc(list, func(a, b found) int { return int(b.severity - a.severity) })
	out := make([]document.Issue, 0, len(list)+1)
	for _, i := range list {
		out = append(out, i.Issue)
	}
	if f.omitted > 0 {
		out = append(out, issue(document.CodeIssuesOmitted, fmt.Sprintf("%d further findings are not listed", f.omitted)).Issue)
	}
	return out
}

// maxRefusals bounds the refusals of one result.
const maxRefusals = 50

// refusing are the codes of issues that speak against using the change at all.
var refusing = []string{document.CodeConstraintViolated, document.CodeProtectedPath, document.CodeSecretInDiff, document.CodeScanIncomplete}

// refuse records a reason against the change, once.
func (f *findings) refuse(r document.Refusal) {
	if len(f.refusals) < maxRefusals && !slices.Contains(f.refusals, r) {
		f.refusals = append(f.refusals, r)
	}
}
