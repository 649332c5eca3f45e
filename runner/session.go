package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/dirty"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

var (
	stepNewSession  = step.Define("session/make")
	stepBindSession = step.Define("session/bind")
)

// sessionTurn is what a run is in its session: what it continues, what it leaves,
// and the lock that keeps others out meanwhile.
type sessionTurn struct {
	dir          *state.SessionDir
	doc          state.Session
	earlier      []state.SessionRun  // the runs this one follows
	begin        state.SessionTree   // what a run with others before it, or in place of another, begins on
	conversation *state.Conversation // that the turn continues; nil for a new one
	retryOf      string

	begun bool                // there was a tree to work on
	kept  *state.Conversation // as this run left it; nil where that is not kept
	end   state.SessionTree
}

// continueSession takes a session that has runs and says what p goes on from.
// It is nil where there is none: one is made when all else is known to work.
func (r *Runner) continueSession(ctx context.Context, p *plan.Plan, repo *gitdiff.Repo) (_ *sessionTurn, err error) {
	if p.Session == "" {
		return nil, nil
	}
	dir, err := r.o.State.TakeSession(ctx, p.Session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuseRetry(p)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dir.Close())
		}
	}()
	doc, err := r.o.State.ReadSession(p.Session)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(doc.Runs) == 0 {
		// Its first run died: nothing binds it yet.
		return nil, errors.Join(refuseRetry(p), dir.Close())
	}
	if err != nil {
		return nil, err
	}
	s := &sessionTurn{dir: dir, doc: doc}
	if err := s.bound(p, repo); err != nil {
		return nil, err
	}
	if err := s.place(p); err != nil {
		return nil, err
	}
	if err := s.present(ctx, r.o.State, repo); err != nil {
		return nil, err
	}
	if s.retryOf != "" && !p.ForceWhenDirty {
		if err := refuseDirt(ctx, repo); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// refuseRetry refuses to go back in a session without a run.
func refuseRetry(p *plan.Plan) error {
	if p.Retry == "" {
		return nil
	}
	return document.InputAt("/retry_process_id", fmt.Sprintf("session %q has no run", excerpt.Clip(p.Session, 64)))
}

// bound refuses what does not belong to the session.
func (s *sessionTurn) bound(p *plan.Plan, repo *gitdiff.Repo) error {
	var bad document.Problems
	if repo.Root() != s.doc.RepoRoot {
		bad.Add("/context/repo_root", "session %q belongs to the repository %s", s.doc.ID, s.doc.RepoRoot)
	}
	if p.Agent.Name != s.doc.Agent {
		bad.Add("/agent", "session %q belongs to agent %s", s.doc.ID, s.doc.Agent)
	}
	if p.Base != s.doc.Base && p.Base != plan.DefaultBase {
		bad.Add("/context/base", "session %q goes on from its own files; it began at %q", s.doc.ID, s.doc.Base)
	}
	if p.IncludeDirty {
		bad.Add("/context/include_dirty", "session %q goes on from its own files, so uncommitted ones cannot be taken along", s.doc.ID)
	}
	if p.Retry == "" && len(s.doc.Runs) >= state.MaxSessionRuns {
		bad.Add("/session_id", "session %q has %d runs, which is the most one can have", s.doc.ID, len(s.doc.Runs))
	}
	return bad.Err("the task does not fit its session", `"sandboxrun sessions show" tells what it is bound to; another session_id begins anew`)
}

// place finds the run to follow, or the one to go back before.
func (s *sessionTurn) place(p *plan.Plan) error {
	s.earlier = s.doc.Runs
	if p.Retry != "" {
		at := -1
		for i, run := range s.doc.Runs {
			if !strings.HasPrefix(run.RunID, strings.ToLower(p.Retry)) {
				continue
			}
			if at >= 0 {
				return document.InputAt("/retry_process_id", fmt.Sprintf("several runs of session %q begin with %q", s.doc.ID, excerpt.Clip(p.Retry, 64)))
			}
			at = i
		}
		if at < 0 {
			return document.InputAt("/retry_process_id", fmt.Sprintf("session %q has no run %q", s.doc.ID, excerpt.Clip(p.Retry, 64)))
		}
		s.earlier, s.begin, s.retryOf = s.doc.Runs[:at:at], s.doc.Runs[at].Begin, s.doc.Runs[at].RunID
	}
	if n := len(s.earlier); n > 0 {
		s.conversation = s.earlier[n-1].Conversation
		if s.retryOf == "" {
			s.begin = s.earlier[n-1].End
		}
	}
	return nil
}

// present makes sure that everything the session goes on from is still there.
func (s *sessionTurn) present(ctx context.Context, st *state.State, repo *gitdiff.Repo) (err error) {
	gone := func(what string) error {
		return &document.InputError{Message: "the session cannot go on", Details: []document.Detail{{Path: "/session_id", Message: what}},
			Hint: "begin another session"}
	}
	if _, err := repo.Resolve(ctx, s.doc.Origin); err != nil {
		return gone(fmt.Sprintf("the commit it began from is no longer in the repository: %v", err))
	}
	objects, err := gitdiff.NewStore(st.TreesDir()).For(repo)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	for _, t := range []state.SessionTree{s.begin, s.root()} {
		if tree, err := objects.Tree(ctx, t.Commit); err != nil || tree != t.Tree {
			return gone(fmt.Sprintf("its commit %s is no longer kept", t.Commit))
		}
	}
	if s.conversation == nil {
		return nil
	}
	if _, err := os.Stat(s.dir.ConversationPath(s.conversation.RunID)); err != nil {
		return gone(fmt.Sprintf("its conversation at the end of run %s is no longer kept", s.conversation.RunID))
	}
	return nil
}

// root is the commit whose pristine checkout all trees of the session lie over:
// so a turn costs what was changed, not what the repository has.
func (s *sessionTurn) root() state.SessionTree { return s.doc.Runs[0].Begin }

// refuseDirt refuses to go back while the user's tree has uncommitted changes,
// or while it cannot be told whether it has.
func refuseDirt(ctx context.Context, repo *gitdiff.Repo) error {
	dirt, err := dirty.Read(ctx, repo)
	if err != nil {
		return err
	}
	text := dirtText(dirt)
	if text == "" {
		return nil
	}
	return &document.ConflictError{InputError: &document.InputError{
		Message: "the repository has uncommitted changes", Details: []document.Detail{{Path: "/retry_process_id", Message: "going back would leave these aside: " + text}},
		Hint: "commit or stash them, or set force_when_dirty (--force-when-dirty)",
	}}
}

// beginSession makes the session of a first run.
func (r *Runner) beginSession(ctx context.Context, p *plan.Plan, rd *ready) (*sessionTurn, error) {
	step.Before(stepNewSession)
	dir, err := r.o.State.MakeSession(ctx, p.Session)
	step.After(stepNewSession)
	if err != nil {
		return nil, err
	}
	old, err := r.o.State.ReadSession(p.Session)
	if err == nil && len(old.Runs) > 0 { // another's first run began and ended meanwhile
		return nil, errors.Join(state.SessionBusy(p.Session), dir.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, dir.Close())
	}
	now := time.Now().UTC()
	doc := state.Session{SchemaVersion: state.SessionVersion, ID: p.Session, Agent: p.Agent.Name, RepoRoot: rd.repo.Root(), Base: p.Base,
		Origin: rd.base.ID, CreatedAt: now, UpdatedAt: now, Runs: []state.SessionRun{}}
	step.Before(stepBindSession)
	err = dir.Write(doc)
	step.After(stepBindSession)
	if err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	return &sessionTurn{dir: dir, doc: doc}, nil
}

// leave releases the session; one that has no run is removed.
func (s *sessionTurn) leave() error {
	if s == nil {
		return nil
	}
	if len(s.doc.Runs) == 0 {
		return s.dir.Remove()
	}
	return s.dir.Close()
}

// continued says that the session has runs already.
func (s *sessionTurn) continued() bool { return s != nil && len(s.doc.Runs) > 0 }

// conversationID names the conversation of the next turn, and says whether there
// is one to continue.
func (s *sessionTurn) conversationID() (id string, resume bool) {
	if s != nil && s.conversation != nil {
		return s.conversation.SessionID, true
	}
	return uuid.NewString(), false
}
