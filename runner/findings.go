package runner

import (
	"fmt"
	"slices"
)

// severity says what an issue means for the status of the run.
type severity int

const (
	// note is worth saying and changes nothing.
	note severity = iota
	// flaw lets a run end partial at best.
	flaw
	// fruitless is a flaw where the tree changed, and fatal where it did not.
	fruitless
	// fatal fails the run.
	fatal
)

// maxIssues bounds the issues of one result; a hostile tree can cause millions.
const maxIssues = 200

// found is one issue and what it means.
type found struct {
	severity
	Issue
}

// findings collects the issues of a run and what they mean for it.
type findings struct {
	list        []found
	worst       severity
	omitted     int
	stopped     bool // a phase failed: no more work, only the phases that are owed
	limited     bool // a limit of the box or the task ended the work
	interrupted bool // a person or a supervisor ended the work
}

func (f *findings) add(s severity, i Issue) {
	f.worst = max(f.worst, s)
	if len(f.list) >= maxIssues {
		f.omitted++
		lesser, least := -1, s
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
	f.list = append(f.list, found{severity: s, Issue: i})
}

// halted says that no box of this run may be started any more.
func (f *findings) halted() bool { return f.limited || f.interrupted || f.worst == fatal }

// status folds the issues: any flaw makes a run partial, a fatal one, or a
// fruitless one on an unchanged tree, makes it failed.
func (x *run) status() Status {
	changed := x.diff != nil && len(x.diff.Changes) > 0
	switch worst := x.findings.worst; {
	case worst == fatal, worst == fruitless && !changed:
		return StatusFailed
	case worst >= flaw:
		return StatusPartial
	}
	return StatusSuccess
}

// sorted returns the issues with the gravest first, otherwise in the order they
// were found: what a run died of comes before what followed from it.
func (f *findings) sorted() []Issue {
	list := slices.Clone(f.list)
	slices.SortStableFunc(list, func(a, b found) int { return int(b.severity - a.severity) })
	out := make([]Issue, 0, len(list)+1)
	for _, i := range list {
		out = append(out, i.Issue)
	}
	if f.omitted > 0 {
		out = append(out, Issue{Type: IssueConflict, Code: CodeIssuesOmitted,
			Description: fmt.Sprintf("%d further findings are not listed", f.omitted), SuggestedAction: "look at the change itself"})
	}
	return out
}
