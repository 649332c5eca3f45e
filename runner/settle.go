package runner

import (
	"context"
	"strings"
	"time"

	"sandboxrun/gitdiff/land"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/state"
)

var (
	stepTrees       = step.Define("run/trees")
	stepSessionTree = step.Define("session/tree")
	stepLeave       = step.Define("session/leave")
)

// settle removes what is left, makes the result of everything that is known and
// stores it. The result exists also when it cannot be stored.
func settle(ctx context.Context, x *run) *document.Result {
	began := time.Now()
	log := x.record.Log
	log.Emit("settle", journal.PhaseStarted{})
	x.reportDirt()
	if names := x.boxes.Usage.Names(); len(names) > 0 {
		x.report.add(deniedIssue(names, x.boxes.Usage.Private()))
	}
	if reasons := x.boxes.Usage.Refused(); len(reasons) > 0 {
		x.report.add(issue(document.CodeModelRequestRefused, "model requests that the broker refused: "+excerpt.Clip(strings.Join(reasons, "; "), 2000)))
	}
	end := x.sessionTree()
	x.removeTrees()
	x.endSession(end)
	step.Before(stepLeave)
	err := x.session.Leave()
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
	res := x.result(x.boxes.Result(x.plan, x.trees.UsedLayout()), x.boxes.Usage.Total())
	x.change.diff = nil // as large as the result, which holds what is reported of it
	res = x.record.Redacted(res)
	if err := x.r.finish(ctx, &x.record, res); err != nil {
		res.Issues = append(res.Issues, x.unstored(err))
		if res.Status == document.StatusSuccess {
			res.Status = document.StatusPartial
		}
	}
	return res
}

// deniedIssue reports that something in a box asked for what it may not have. It
// changes no verdict: the request was in vain. private describes those of the names
// that stand for a private address.
func deniedIssue(names, private []string) found {
	i := issue(document.CodeEgressDenied, "refused on the way out of the box: "+excerpt.Clip(strings.Join(names, ", "), 1000))
	if len(private) == 0 {
		return i
	}
	action := excerpt.Clip(strings.Join(private, ", "), 1000) + "; box.network.allow_private in the configuration opens private addresses to setup commands"
	if len(private) < len(names) {
		action = i.SuggestedAction + "; " + action
	}
	return i.withAction(action)
}

// removeTrees removes the trees and closes the repository. The trees of a box that
// may still run stay: reap removes both when the engine answers again.
func (x *run) removeTrees() {
	failed := func(what string, err error) {
		if err != nil {
			x.report.fail("settle", &document.CleanupError{What: what, Err: err})
		}
	}
	if !x.boxes.Left() {
		if x.trees.Working != nil {
			if err := x.trees.Close(x.trees.Working); err != nil {
				x.report.fail("settle", err)
			}
		}
		step.Before(stepTrees)
		failed("trees of the run", x.r.o.State.RemoveTrees(x.id))
		step.After(stepTrees)
	}
	if x.trees.Objects != nil {
		failed("object store", x.trees.Objects.Close())
		x.trees.Objects = nil // with its cache
	}
	failed("repository", x.repo.Close())
}

// sessionTree decides what the next run of the session begins on: the landed
// commit, so that its branch goes on from this one's; else a commit of the
// captured tree that only the runner's store has; else, where nothing changed or
// nothing could be captured, what this run began on.
func (x *run) sessionTree() state.SessionTree {
	begin := state.TreeOf(x.base)
	if x.session == nil || !x.session.Begun {
		return begin
	}
	snap := x.change.snapshot
	if snap == nil || snap.Tree == x.base.Tree {
		return begin
	}
	if x.landed.commit != "" {
		return state.SessionTree{Commit: x.landed.commit, Tree: snap.Tree, Time: x.started.UTC().Truncate(time.Second)}
	}
	const lost = "the files of this run are not kept for the next one: "
	// A later landing would bring these along as history.
	if len(x.change.refused) > 0 || x.change.refusedByGit {
		x.sessionLost(lost+"the change is not such as may land", document.SeverityFlaw)
		return begin
	}
	if x.change.unread {
		x.sessionLost(lost+"not all of the change could be read", document.SeverityFlaw)
		return begin
	}
	if x.change.leaks.Found {
		x.sessionLost(lost+"the change may hold secrets", document.SeverityFlaw)
		return begin
	}
	step.Before(stepSessionTree)
	c, err := land.StoreCommit(x.trees.Objects, land.Landing{
		Parent: x.base, Tree: snap.Tree, Message: x.message(), Trailers: x.trailers(), Author: x.author(), Committer: x.committer(), When: x.started,
	})
	step.After(stepSessionTree)
	if err != nil {
		x.sessionLost(lost+err.Error(), document.SeverityFlaw)
		return begin
	}
	return state.TreeOf(c)
}

// endSession adds the run to its session; the next one begins on end.
func (x *run) endSession(end state.SessionTree) {
	if x.session == nil || !x.session.Begun {
		return
	}
	r := state.SessionRun{RunID: x.id, TaskID: x.taskID, Status: x.status(), Branch: shortBranch(x.landed.ref),
		Begin: state.TreeOf(x.base), End: end, StartedAt: x.started.UTC(), EndedAt: time.Now().UTC()}
	if x.evidence.outcome != nil {
		r.Claim = excerpt.Clip(x.record.Secrets.String(x.evidence.outcome.Claim), state.MaxSessionClaim)
	}
	if err := x.session.Add(r); err != nil {
		x.sessionLost("this run is not part of its session, which stays as it was: "+err.Error(), document.SeverityFlaw)
	}
}
