package runner

import (
	"time"

	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
)

var (
	stepTrees = step.Define("run/trees")
	stepLeave = step.Define("session/leave")
)

// settle removes what is left, makes the result of everything that is known and
// stores it. The result exists also when it cannot be stored.
func settle(x *run) *document.Result {
	began := time.Now()
	log := x.record.Log
	log.Emit("settle", journal.PhaseStarted{})
	x.reportDirt()
	if denied, ok := x.boxes.usage.deniedIssue(); ok {
		x.report.add(denied)
	}
	x.endSessionTree()
	x.removeTrees()
	x.endSession()
	step.Before(stepLeave)
	err := x.session.leave()
	step.After(stepLeave)
	if err != nil {
		x.sessionLost("the session is not released until this program ends: "+err.Error(), document.SeverityFlaw)
	}
	if err = log.Failure(); err != nil {
		x.report.add(issue(document.CodeJournalLost, "events could not be stored: "+err.Error()))
	}
	took := time.Since(began).Milliseconds()
	x.report.timing["settle"] = took
	log.Emit("settle", journal.PhaseEnded{DurationMS: took})
	res := x.result(x.boxes.result(x.plan, x.trees.usedLayout()), x.boxes.usage.ofAgent())
	x.change.diff = nil // as large as the result, which holds what is reported of it
	res = x.record.Redacted(res)
	log.Emit("settle", journal.RunEnded{Status: res.Status, Summary: res.Summary})
	if err := x.record.Dir.Finish(res, x.record.Close); err != nil {
		res.Issues = append(res.Issues, issue(document.CodeJournalLost, "the result could not be stored: "+x.record.Secrets.String(err.Error())).
			withAction("keep this document; free space in the state directory").Issue)
		if res.Status == document.StatusSuccess {
			res.Status = document.StatusPartial
		}
	}
	return res
}

// removeTrees removes the trees and closes the repository. The trees of a box that
// may still run stay: reap removes both when the engine answers again.
func (x *run) removeTrees() {
	failed := func(what string, err error) {
		if err != nil {
			x.report.fail("settle", &cleanupError{what: what, err: err})
		}
	}
	if !x.boxes.left() {
		if x.trees.working != nil {
			if err := x.trees.close(x.trees.working); err != nil {
				x.report.fail("settle", err)
			}
		}
		step.Before(stepTrees)
		failed("trees of the run", x.r.o.State.RemoveTrees(x.id))
		step.After(stepTrees)
	}
	if x.trees.objects != nil {
		failed("object store", x.trees.objects.Close())
	}
	failed("repository", x.repo.Close())
}
