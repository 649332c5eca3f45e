package runner

import (
	"slices"
	"time"

	"sandboxrun/gitdiff"
)

// endTree decides on what the next run of the session begins: the landed
// commit, so that its branch goes on from this one's; else a commit of the
// captured tree that is known to the runner's store only; else, where nothing
// changed or nothing could be captured, what this run began on.
func (x *run) endTree() {
	s := x.session
	if s == nil || !s.begun {
		return
	}
	s.end = sessionTree(x.base)
	if x.snapshot == nil || x.snapshot.Tree == x.base.Tree {
		return
	}
	if x.commit != "" {
		s.end = SessionTree{Commit: x.commit, Tree: x.snapshot.Tree, Time: x.started.UTC().Truncate(time.Second)}
		return
	}
	// A later landing would bring these along as history.
	if len(x.refused) > 0 || x.refusedByGit {
		x.loseTalk("the files of this run are not kept for the next one: the change is not such as may land", flaw)
		return
	}
	if x.leaks.found {
		x.loseTalk("the files of this run are not kept for the next one: the change may hold secrets", flaw)
		return
	}
	var c gitdiff.Commit
	err := x.step(stepSessionTree, s.doc.ID, func() (err error) {
		c, err = x.objects.StoreCommit(gitdiff.Landing{Parent: x.base, Tree: x.snapshot.Tree, Message: x.message(), Trailers: x.trailers(), When: x.started})
		return err
	})
	if err != nil {
		x.loseTalk("the files of this run are not kept for the next one: "+err.Error(), flaw)
		return
	}
	s.end = sessionTree(c)
}

// endSession adds the run to the line of its session. A run that never had a
// tree is not part of it.
func (x *run) endSession() {
	s := x.session
	if s == nil || !s.begun {
		return
	}
	r := SessionRun{RunID: x.id, TaskID: x.taskID, Status: x.status(), Branch: shortBranch(x.branch), RetryOf: s.retryOf, Resumed: s.talk != nil,
		Begin: sessionTree(x.base), End: s.end, Kept: s.kept != nil, Conversation: s.kept, StartedAt: x.started.UTC(), EndedAt: time.Now().UTC()}
	if s.kept == nil {
		r.Conversation = s.talk
	}
	if x.outcome != nil {
		r.Claim = clip(x.secrets.String(x.outcome.Claim), maxSessionClaim)
	}
	doc := s.doc
	doc.Runs = append(slices.Clone(s.line), r)
	doc.UpdatedAt = r.EndedAt
	err := x.step(stepSession, s.doc.ID, func() error { return s.dir.write(doc) })
	if err != nil {
		x.loseTalk("this run is not part of its session, which stays as it was: "+err.Error(), flaw)
		return
	}
	s.doc = doc
}

// sessionResult is what the result says of the session; nil without one.
func (x *run) sessionResult() *SessionResult {
	s := x.session
	if s == nil {
		return nil
	}
	return &SessionResult{ID: s.doc.ID, RunIndex: len(s.line) + 1, Resumed: s.talk != nil, RetryOf: s.retryOf}
}
