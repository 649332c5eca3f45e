package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/step"
)

// ConflictError says that what was asked for is in order and cannot be done
// now: a session is busy, or going back meets uncommitted changes.
type ConflictError struct{ *InputError }

// Unwrap lets it be told as the input error it is.
func (e *ConflictError) Unwrap() error { return e.InputError }

// sessionForm is the form of a session's id; the schema of tasks has it too.
var sessionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// sessionProblem says why no session can be called so; "" when one can.
func sessionProblem(id string) string {
	if !sessionForm.MatchString(id) {
		return fmt.Sprintf("must match %s", sessionForm)
	}
	return idProblem(id)
}

// runNameProblem says why no run's id begins so; "" when one can.
func runNameProblem(name string) string {
	if len(name) > 26 || strings.ContainsFunc(name, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) {
		return "must be the id of a run, or the beginning of one"
	}
	return ""
}

// planSession takes over what a run is to be in a session.
func (p *Plan) planSession(t *Task, o Overrides) error {
	p.Session = firstSet(o.Session, t.SessionID)
	p.Retry = firstSet(o.Retry, t.RetryProcessID)
	p.ForceWhenDirty = o.ForceWhenDirty || t.ForceWhenDirty
	switch {
	case p.Session != "" && p.Mode == ModeCommand:
		return inputAt("/session_id", "a session needs an agent, and execution_mode command has none")
	case p.Session == "" && p.Retry != "":
		return inputAt("/retry_process_id", "needs a session_id")
	}
	p.Phases = planPhases(p.Session != "")
	return nil
}

// sessionTurn is what a run is in its session: what it goes on from, what it
// leaves, and the lock that keeps others out meanwhile.
type sessionTurn struct {
	dir     *SessionDir
	doc     Session
	line    []SessionRun // the runs this one follows
	begin   SessionTree  // what a run with others before it, or in place of another, begins on
	talk    *Conversation
	retryOf string

	begun bool          // there was a tree to work on
	kept  *Conversation // as this run left it; nil where that is not kept
	end   SessionTree
}

// continueSession takes a session that has runs and says what p goes on from.
// It is nil where there is none: one is made when all else is known to work.
func (r *Runner) continueSession(ctx context.Context, p *Plan, repo *gitdiff.Repo) (_ *sessionTurn, err error) {
	if p.Session == "" {
		return nil, nil
	}
	dir, err := r.o.State.takeSession(ctx, p.Session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, p.unretryable()
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dir.close())
		}
	}()
	doc, err := r.o.State.readSession(p.Session)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(doc.Runs) == 0 {
		// Its first run died: nothing binds it yet.
		return nil, errors.Join(p.unretryable(), dir.close())
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

// unretryable refuses to go back in a session without a run.
func (p *Plan) unretryable() error {
	if p.Retry == "" {
		return nil
	}
	return inputAt("/retry_process_id", fmt.Sprintf("session %q has no run", clip(p.Session, 64)))
}

// bound refuses what does not belong to the session.
func (s *sessionTurn) bound(p *Plan, repo *gitdiff.Repo) error {
	var bad problems
	if repo.Root() != s.doc.RepoRoot {
		bad.add("/context/repo_root", "session %q belongs to the repository %s", s.doc.ID, s.doc.RepoRoot)
	}
	if p.Agent.Name != s.doc.Agent {
		bad.add("/agent", "session %q belongs to agent %s", s.doc.ID, s.doc.Agent)
	}
	if p.Base != s.doc.Base && p.Base != defaultBase {
		bad.add("/context/base", "session %q goes on from its own files; it began at %q", s.doc.ID, s.doc.Base)
	}
	if p.IncludeDirty {
		bad.add("/context/include_dirty", "session %q goes on from its own files, so uncommitted ones cannot be taken along", s.doc.ID)
	}
	if p.Retry == "" && len(s.doc.Runs) >= maxSessionRuns {
		bad.add("/session_id", "session %q has %d runs, which is the most one can have", s.doc.ID, len(s.doc.Runs))
	}
	return bad.err("the task does not fit its session", `"sandboxrun sessions show" tells what it is bound to; another session_id begins anew`)
}

// place finds the run to follow, or the one to go back before.
func (s *sessionTurn) place(p *Plan) error {
	s.line = s.doc.Runs
	if p.Retry != "" {
		at := -1
		for i, run := range s.doc.Runs {
			if !strings.HasPrefix(run.RunID, strings.ToLower(p.Retry)) {
				continue
			}
			if at >= 0 {
				return inputAt("/retry_process_id", fmt.Sprintf("several runs of session %q begin with %q", s.doc.ID, clip(p.Retry, 64)))
			}
			at = i
		}
		if at < 0 {
			return inputAt("/retry_process_id", fmt.Sprintf("session %q has no run %q", s.doc.ID, clip(p.Retry, 64)))
		}
		s.line, s.begin, s.retryOf = s.doc.Runs[:at:at], s.doc.Runs[at].Begin, s.doc.Runs[at].RunID
	}
	if n := len(s.line); n > 0 {
		s.talk = s.line[n-1].Conversation
		if s.retryOf == "" {
			s.begin = s.line[n-1].End
		}
	}
	return nil
}

// present makes sure that everything the session goes on from is still there.
func (s *sessionTurn) present(ctx context.Context, state *State, repo *gitdiff.Repo) (err error) {
	gone := func(what string) error {
		return &InputError{Message: "the session cannot go on", Details: []Detail{{Path: "/session_id", Message: what}},
			Hint: "begin another session"}
	}
	if _, err := repo.Resolve(ctx, s.doc.Origin); err != nil {
		return gone(fmt.Sprintf("the commit it began from is no longer in the repository: %v", err))
	}
	objects, err := gitdiff.NewStore(state.TreesDir()).For(repo)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	for _, t := range []SessionTree{s.begin, s.root()} {
		if tree, err := objects.Tree(ctx, t.Commit); err != nil || tree != t.Tree {
			return gone(fmt.Sprintf("its commit %s is no longer kept", t.Commit))
		}
	}
	if s.talk == nil {
		return nil
	}
	if _, err := os.Stat(s.dir.talkPath(s.talk.RunID)); err != nil {
		return gone(fmt.Sprintf("its conversation at the end of run %s is no longer kept", s.talk.RunID))
	}
	return nil
}

// root is the commit whose pristine checkout all trees of the session lie over:
// so a turn costs what was changed, not what the repository has.
func (s *sessionTurn) root() SessionTree { return s.doc.Runs[0].Begin }

// refuseDirt refuses to go back while the user's tree has uncommitted changes,
// or while it cannot be told whether it has.
func refuseDirt(ctx context.Context, repo *gitdiff.Repo) error {
	dirt, err := repo.Dirty(ctx)
	if err != nil {
		return err
	}
	text := dirtText(dirt)
	if text == "" {
		return nil
	}
	return &ConflictError{&InputError{
		Message: "the repository has uncommitted changes", Details: []Detail{{Path: "/retry_process_id", Message: "going back would leave these aside: " + text}},
		Hint: "commit or stash them, or set force_when_dirty (--force-when-dirty)",
	}}
}

// beginSession makes the session of a first run.
func (r *Runner) beginSession(ctx context.Context, p *Plan, rd *ready) (*sessionTurn, error) {
	var dir *SessionDir
	err := step.Bare(stepNewSession, func() (err error) {
		dir, err = r.o.State.makeSession(ctx, p.Session)
		return err
	})
	if err != nil {
		return nil, err
	}
	old, err := r.o.State.readSession(p.Session)
	if err == nil && len(old.Runs) > 0 { // another's first run began and ended meanwhile
		return nil, errors.Join(sessionBusy(p.Session), dir.close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, dir.close())
	}
	now := time.Now().UTC()
	doc := Session{SchemaVersion: sessionVersion, ID: p.Session, Agent: p.Agent.Name, RepoRoot: rd.repo.Root(), Base: p.Base,
		Origin: rd.base.ID, CreatedAt: now, UpdatedAt: now, Runs: []SessionRun{}}
	err = step.Bare(stepBindSession, func() error { return dir.write(doc) })
	if err != nil {
		return nil, errors.Join(err, dir.remove())
	}
	return &sessionTurn{dir: dir, doc: doc}, nil
}

// leave lets go of the session; one that has no run is removed.
func (s *sessionTurn) leave() error {
	if s == nil {
		return nil
	}
	if len(s.doc.Runs) == 0 {
		return s.dir.remove()
	}
	return s.dir.close()
}

// conversation names the conversation of the next turn, and says whether there
// is one to go on with.
func (x *run) conversation() (id string, resume bool) {
	if x.session != nil && x.session.talk != nil {
		return x.session.talk.SessionID, true
	}
	return uuid.NewString(), false
}

// underlay is the commit whose pristine checkout the trees of this run lie over.
func (x *run) underlay() gitdiff.Commit {
	if x.session != nil && len(x.session.doc.Runs) > 0 {
		return x.session.root().commit()
	}
	return x.base
}
