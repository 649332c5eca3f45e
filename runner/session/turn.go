package session

import (
	"slices"

	"github.com/google/uuid"

	"sandboxrun/gitdiff"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

var stepSession = step.Define("session/write")

// Turn is what a run is in its session: what it continues, what it leaves, and
// the lock that keeps others out meanwhile. A nil Turn is a run without a session.
type Turn struct {
	dir          *state.SessionDir
	doc          state.Session
	earlier      []state.SessionRun  // the runs this one follows
	begin        state.SessionTree   // what a run with others before it, or in place of another, begins on
	conversation *state.Conversation // that the turn continues; nil for a new one
	retryOf      string

	// Begun says that there was a tree to work on. A run without one is no part of its session.
	Begun bool
	kept  *state.Conversation // as this run left it; nil where that is not kept
}

// Start is the commit on which a run of a session that goes on begins.
func (s *Turn) Start() gitdiff.Commit { return s.begin.GitCommit() }

// Root is the commit whose pristine checkout all trees of a session that goes on
// lie over: so a turn costs what was changed, not what the repository has.
func (s *Turn) Root() gitdiff.Commit { return s.doc.Runs[0].Begin.GitCommit() }

// Continued says that the session has runs already.
func (s *Turn) Continued() bool { return s != nil && len(s.doc.Runs) > 0 }

// ConversationID names the conversation of the next turn, and says whether there
// is one to continue.
func (s *Turn) ConversationID() (id string, resume bool) {
	if s != nil && s.conversation != nil {
		return s.conversation.SessionID, true
	}
	return uuid.NewString(), false
}

// Add adds the run to its session, which otherwise stays as it was. The turn fills
// in what it knows itself: what the run continued and what it kept.
func (s *Turn) Add(r state.SessionRun) error {
	r.RetryOf, r.Resumed, r.Kept, r.Conversation = s.retryOf, s.conversation != nil, s.kept != nil, s.kept
	if s.kept == nil {
		r.Conversation = s.conversation
	}
	doc := s.doc
	doc.Runs = append(slices.Clone(s.earlier), r)
	doc.UpdatedAt = r.EndedAt
	step.Before(stepSession)
	err := s.dir.Write(doc)
	step.After(stepSession)
	if err != nil {
		return err
	}
	s.doc = doc
	return nil
}

// Result is what the result says of the session; nil without one.
func (s *Turn) Result() *document.SessionResult {
	if s == nil {
		return nil
	}
	return &document.SessionResult{ID: s.doc.ID, RunIndex: len(s.earlier) + 1, Resumed: s.conversation != nil, RetryOf: s.retryOf}
}

// Leave releases the session; one that has no run is removed.
func (s *Turn) Leave() error {
	if s == nil {
		return nil
	}
	if len(s.doc.Runs) == 0 {
		return s.dir.Remove()
	}
	return s.dir.Close()
}
