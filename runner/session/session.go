// Package session is the place of a run among the runs of its session: what it goes on from, what it
// leaves to the next one, and the conversation of the agent between them.
package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

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

// Continue takes a session that has runs and says what p goes on from. It is nil
// where there is none: Begin makes one when all else is known to work.
func Continue(ctx context.Context, st *state.State, p *plan.Plan, repo *gitdiff.Repo) (_ *Turn, err error) {
	if p.Session == "" {
		return nil, nil
	}
	dir, err := st.TakeSession(ctx, p.Session)
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
	doc, err := st.ReadSession(p.Session)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(doc.Runs) == 0 {
		// Its first run died: nothing binds it yet.
		return nil, errors.Join(refuseRetry(p), dir.Close())
	}
	if err != nil {
		return nil, err
	}
	s := &Turn{dir: dir, doc: doc}
	if err := s.bound(p, repo); err != nil {
		return nil, err
	}
	if err := s.place(p); err != nil {
		return nil, err
	}
	if err := s.present(ctx, st, repo); err != nil {
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
func (s *Turn) bound(p *plan.Plan, repo *gitdiff.Repo) error {
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
func (s *Turn) place(p *plan.Plan) error {
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
func (s *Turn) present(ctx context.Context, st *state.State, repo *gitdiff.Repo) (err error) {
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
	for _, t := range []state.SessionTree{s.begin, s.doc.Runs[0].Begin} {
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

// refuseDirt refuses to go back while the user's tree has uncommitted changes,
// or while it cannot be told whether it has.
func refuseDirt(ctx context.Context, repo *gitdiff.Repo) error {
	dirt, err := dirty.Read(ctx, repo)
	if err != nil {
		return err
	}
	text := dirt.Text()
	if text == "" {
		return nil
	}
	return &document.ConflictError{InputError: &document.InputError{
		Message: "the repository has uncommitted changes", Details: []document.Detail{{Path: "/retry_process_id", Message: "going back would leave these aside: " + text}},
		Hint: "commit or stash them, or set force_when_dirty (--force-when-dirty)",
	}}
}

// Begin makes the session of a first run, which starts from base.
func Begin(ctx context.Context, st *state.State, p *plan.Plan, repo *gitdiff.Repo, base gitdiff.Commit) (*Turn, error) {
	step.Before(stepNewSession)
	dir, err := st.MakeSession(ctx, p.Session)
	step.After(stepNewSession)
	if err != nil {
		return nil, err
	}
	old, err := st.ReadSession(p.Session)
	if err == nil && len(old.Runs) > 0 { // another's first run began and ended meanwhile
		return nil, errors.Join(state.SessionBusy(p.Session), dir.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, dir.Close())
	}
	now := time.Now().UTC()
	doc := state.Session{SchemaVersion: state.SessionVersion, ID: p.Session, Agent: p.Agent.Name, RepoRoot: repo.Root(), Base: p.Base,
		Origin: base.ID, CreatedAt: now, UpdatedAt: now, Runs: []state.SessionRun{}}
	step.Before(stepBindSession)
	err = dir.Write(doc)
	step.After(stepBindSession)
	if err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	return &Turn{dir: dir, doc: doc}, nil
}
