package runner

import (
	"slices"
	"time"

	"sandboxrun/gitdiff/land"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/state"
)

var (
	stepSessionTree = step.Define("session/tree")
	stepSession     = step.Define("session/write")
)

// endSessionTree decides what the next run of the session begins on: the landed
// commit, so that its branch goes on from this one's; else a commit of the
// captured tree that only the runner's store has; else, where nothing changed or
// nothing could be captured, what this run began on.
func (x *run) endSessionTree() {
	s := x.session
	if s == nil || !s.begun {
		return
	}
	s.end = state.TreeOf(x.base)
	snap := x.change.snapshot
	if snap == nil || snap.Tree == x.base.Tree {
		return
	}
	if x.landed.commit != "" {
		s.end = state.SessionTree{Commit: x.landed.commit, Tree: snap.Tree, Time: x.started.UTC().Truncate(time.Second)}
		return
	}
	const lost = "the files of this run are not kept for the next one: "
	// A later landing would bring these along as history.
	if len(x.change.refused) > 0 || x.change.refusedByGit {
		x.sessionLost(lost+"the change is not such as may land", document.SeverityFlaw)
		return
	}
	if x.change.leaks.Found {
		x.sessionLost(lost+"the change may hold secrets", document.SeverityFlaw)
		return
	}
	step.Before(stepSessionTree)
	c, err := land.StoreCommit(x.trees.objects, land.Landing{Parent: x.base, Tree: snap.Tree, Message: x.message(), Trailers: x.trailers(), When: x.started})
	step.After(stepSessionTree)
	if err != nil {
		x.sessionLost(lost+err.Error(), document.SeverityFlaw)
		return
	}
	s.end = state.TreeOf(c)
}

// endSession adds the run to its session. A run that never had a tree is not part
// of it.
func (x *run) endSession() {
	s := x.session
	if s == nil || !s.begun {
		return
	}
	r := state.SessionRun{RunID: x.id, TaskID: x.taskID, Status: x.status(), Branch: shortBranch(x.landed.ref), RetryOf: s.retryOf, Resumed: s.conversation != nil,
		Begin: state.TreeOf(x.base), End: s.end, Kept: s.kept != nil, Conversation: s.kept, StartedAt: x.started.UTC(), EndedAt: time.Now().UTC()}
	if s.kept == nil {
		r.Conversation = s.conversation
	}
	if x.evidence.outcome != nil {
		r.Claim = excerpt.Clip(x.record.Secrets.String(x.evidence.outcome.Claim), state.MaxSessionClaim)
	}
	doc := s.doc
	doc.Runs = append(slices.Clone(s.earlier), r)
	doc.UpdatedAt = r.EndedAt
	step.Before(stepSession)
	err := s.dir.Write(doc)
	step.After(stepSession)
	if err != nil {
		x.sessionLost("this run is not part of its session, which stays as it was: "+err.Error(), document.SeverityFlaw)
		return
	}
	s.doc = doc
}

// result is what the result says of the session; nil without one.
func (s *sessionTurn) result() *document.SessionResult {
	if s == nil {
		return nil
	}
	return &document.SessionResult{ID: s.doc.ID, RunIndex: len(s.earlier) + 1, Resumed: s.conversation != nil, RetryOf: s.retryOf}
}
