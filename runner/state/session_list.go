package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
)

// SessionDamaged is the status of a session whose file cannot be read.
const SessionDamaged = "damaged"

// SessionInfo is a session in a list.
type SessionInfo struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent"`
	RepoRoot  string    `json:"repo_root"`
	Runs      int       `json:"runs"`
	Status    string    `json:"last_status"` // of its last run; running while one is active; "" before the first
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// SessionView is a session and whether a run of it is active.
type SessionView struct {
	Session
	Busy bool `json:"busy"`
}

// Sessions lists every session, the last used first.
func (s *State) Sessions() ([]SessionInfo, error) {
	ids, err := s.sessionIDs()
	if err != nil {
		return nil, err
	}
	infos := []SessionInfo{}
	for _, id := range ids {
		info := SessionInfo{ID: id, Status: SessionDamaged}
		view, err := s.viewSession(id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // removed meanwhile, or not begun
		case err == nil:
			info = SessionInfo{ID: id, Agent: view.Agent, RepoRoot: view.RepoRoot, Runs: len(view.Runs), Status: view.status(),
				CreatedAt: view.CreatedAt, UpdatedAt: view.UpdatedAt}
		}
		infos = append(infos, info)
	}
	slices.SortStableFunc(infos, func(a, b SessionInfo) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return infos, nil
}

func (v SessionView) status() string {
	switch {
	case v.Busy:
		return RunRunning
	case len(v.Runs) == 0:
		return ""
	}
	return string(v.Runs[len(v.Runs)-1].Status)
}

// Session returns one session. Errors are *InputError, or failures of reading.
func (s *State) Session(id string) (SessionView, error) {
	if why := document.SessionProblem(id); why != "" {
		return SessionView{}, noSession(id)
	}
	view, err := s.viewSession(id)
	if errors.Is(err, fs.ErrNotExist) {
		return view, noSession(id)
	}
	return view, err
}

func (s *State) viewSession(id string) (SessionView, error) {
	doc, err := s.ReadSession(id)
	if err != nil {
		return SessionView{}, err
	}
	busy, err := locked(s.sessionLock(id))
	return SessionView{Session: doc, Busy: busy}, err
}

// RemoveSession removes a session: its line and its kept conversations. Runs and branches stay. Errors are
// *InputError, among them a *ConflictError while a run of it is active, or failures of removing.
func (s *State) RemoveSession(ctx context.Context, id string) error {
	if why := document.SessionProblem(id); why != "" {
		return noSession(id)
	}
	d, err := s.TakeSession(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return noSession(id)
	}
	if err != nil {
		return err
	}
	return d.Remove()
}

func noSession(id string) error {
	return &document.InputError{Message: fmt.Sprintf("no session is called %q", excerpt.Clip(id, 64)), Hint: `"sandboxrun sessions list" shows them`}
}

// sessionIDs lists the names of sessions.
func (s *State) sessionIDs() ([]string, error) {
	entries, err := os.ReadDir(s.sessionsDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && document.SessionProblem(e.Name()) == "" {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// SweepSessions removes what dead runs left in sessions: archives that no line names, half-written files, sessions
// without a run. It skips sessions in use.
func (s *State) SweepSessions(ctx context.Context) error {
	gone, err := filepath.Glob(filepath.Join(escapeGlob(s.sessionsDir()), ".gone-*"))
	for _, path := range gone {
		if held, lerr := locked(filepath.Join(path, "lock")); lerr == nil && !held { // its remover holds its lock
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	ids, lerr := s.sessionIDs()
	err = errors.Join(err, lerr)
	for _, id := range ids {
		err = errors.Join(err, s.sweepSession(ctx, id))
	}
	return err
}

func (s *State) sweepSession(ctx context.Context, id string) error {
	doc, err := s.ReadSession(id)
	fresh := errors.Is(err, fs.ErrNotExist) || err == nil && len(doc.Runs) == 0
	if err != nil && !fresh {
		return nil // a damaged one is left for a person to inspect
	}
	// Checked without the lock first: its holder blocks runs.
	if stale, err := s.staleFiles(doc); err != nil || !fresh && len(stale) == 0 {
		return err
	}
	d, err := s.TakeSession(ctx, id)
	if busy := (*document.ConflictError)(nil); errors.As(err, &busy) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if doc, err = s.ReadSession(id); errors.Is(err, fs.ErrNotExist) || err == nil && len(doc.Runs) == 0 {
		return d.Remove()
	}
	if err == nil {
		err = d.sweep(doc)
	}
	return errors.Join(err, d.Close())
}
