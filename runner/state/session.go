package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/document"
)

const (
	// MaxSessionRuns bounds the runs of one session.
	MaxSessionRuns = 1000
	// maxSessionFile bounds how much of a session.json is read, in bytes.
	maxSessionFile = 16 << 20
	// MaxConversation bounds one kept conversation, in bytes. It is below the limit on the output of a box's commands,
	// so that this bound is reached first.
	MaxConversation = 128 << 20
	// maxConversations bounds the kept conversations of one session, in bytes. The oldest are removed first; a retry
	// cannot go back to before those.
	maxConversations = 2 << 30
	// MaxSessionClaim bounds the kept part of an agent's last message, in bytes.
	MaxSessionClaim = 500
)

// SessionVersion is the version of session.json.
const SessionVersion = "1.0"

// Session is one conversation with an agent over several runs. It belongs to one repository and one agent; everything
// else may differ between its runs.
type Session struct {
	SchemaVersion string       `json:"schema_version"`
	ID            string       `json:"id"`
	Agent         string       `json:"agent"`
	RepoRoot      string       `json:"repo_root"` // without symlinks
	Base          string       `json:"base"`      // revision the first run was to start from
	Origin        string       `json:"origin"`    // the user's commit of that revision at the time
	CreatedAt     time.Time    `json:"created_at"`
	UpdatedAt     time.Time    `json:"updated_at"`
	Runs          []SessionRun `json:"runs"` // the current line: runs that a retry replaced are not in it
}

// SessionRun is one finished run of a session. The run's own directory may have been removed.
type SessionRun struct {
	RunID        string          `json:"run_id"`
	TaskID       string          `json:"task_id"`
	Status       document.Status `json:"status"`
	Claim        string          `json:"claim"` // the beginning of the agent's last message
	Branch       string          `json:"branch,omitempty"`
	RetryOf      string          `json:"retry_of,omitempty"` // run it replaced
	Resumed      bool            `json:"resumed"`
	Begin        SessionTree     `json:"begin"`
	End          SessionTree     `json:"end"`
	Kept         bool            `json:"kept"`                   // whether Conversation includes this run
	Conversation *Conversation   `json:"conversation,omitempty"` // what the next run continues
	StartedAt    time.Time       `json:"started_at"`
	EndedAt      time.Time       `json:"ended_at"`
}

// SessionTree is a state of the files: a commit in the runner's store.
type SessionTree struct {
	Commit string    `json:"commit"`
	Tree   string    `json:"tree"`
	Time   time.Time `json:"time"`
}

// Conversation is a conversation as the agent's CLI left it in its home. The archive was made in a box and is unpacked
// only in boxes.
type Conversation struct {
	SessionID string   `json:"session_id"` // as the CLI reports it
	RunID     string   `json:"run_id"`     // at the end of which it was kept
	Paths     []string `json:"paths"`      // members of the archive, below HOME
	Bytes     int64    `json:"bytes"`
}

// TreeOf returns the state of the files in a commit.
func TreeOf(c gitdiff.Commit) SessionTree {
	return SessionTree{Commit: c.ID, Tree: c.Tree, Time: c.Time.UTC()}
}

// GitCommit returns the commit with this state of the files.
func (t SessionTree) GitCommit() gitdiff.Commit {
	return gitdiff.Commit{ID: t.Commit, Tree: t.Tree, Time: t.Time}
}

// SessionDir is the directory of a session whose lock is held:
//
//	session.json  the session, replaced atomically
//	lock          held by the one active run
//	home/         kept conversations, <run>.tar
type SessionDir struct {
	state *State
	id    string
	lock  *flock.Flock
}

func (s *State) sessionsDir() string { return filepath.Join(s.dir, "sessions") }

func (s *State) sessionDir(id string) string { return filepath.Join(s.sessionsDir(), id) }

func (s *State) sessionFile(id string) string { return filepath.Join(s.sessionDir(id), "session.json") }

func (s *State) sessionLock(id string) string { return filepath.Join(s.sessionDir(id), "lock") }

func (s *State) sessionHome(id string) string { return filepath.Join(s.sessionDir(id), "home") }

// ReadSession reads a session; the error is fs.ErrNotExist where it does not exist.
func (s *State) ReadSession(id string) (Session, error) {
	var doc Session
	data, err := document.ReadSmall(s.sessionFile(id), maxSessionFile)
	if err != nil {
		return doc, fmt.Errorf("read session %s: %w", id, err)
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return doc, fmt.Errorf("read session %s: %w", id, err)
	}
	if doc.SchemaVersion != SessionVersion || doc.ID != id {
		return doc, fmt.Errorf("read session %s: has version %q and id %q", id, doc.SchemaVersion, doc.ID)
	}
	return doc, nil
}

// ConversationPath is the path of a kept conversation.
func (d *SessionDir) ConversationPath(run string) string {
	return filepath.Join(d.state.sessionHome(d.id), run+".tar")
}

// Write replaces the session and then removes what it no longer names.
func (d *SessionDir) Write(doc Session) error {
	data, err := document.Encode(doc)
	if err != nil {
		return fmt.Errorf("write session %s: %w", d.id, err)
	}
	if len(data) > maxSessionFile {
		return fmt.Errorf("write session %s: more than %d bytes", d.id, maxSessionFile)
	}
	if err := renameio.WriteFile(d.state.sessionFile(d.id), data, 0o600, renameio.WithTempDir(d.state.sessionDir(d.id))); err != nil {
		return fmt.Errorf("write session %s: %w", d.id, err)
	}
	return d.sweep(doc)
}

// sweep removes the conversations that the session does not name, and those beyond its bound.
func (d *SessionDir) sweep(doc Session) error {
	stale, err := d.state.staleFiles(doc)
	for _, path := range stale {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		return fmt.Errorf("sweep session %s: %w", d.id, err)
	}
	return nil
}

// Close releases the session. It is idempotent.
func (d *SessionDir) Close() error {
	if d.lock == nil {
		return nil
	}
	err := d.lock.Close()
	d.lock = nil
	return err
}

// Remove renames the session first, so that no reader sees half of it.
func (d *SessionDir) Remove() error {
	gone := filepath.Join(d.state.sessionsDir(), ".gone-"+d.id)
	err := os.RemoveAll(gone) // of an interrupted removal
	if err == nil {
		err = os.Rename(d.state.sessionDir(d.id), gone)
	}
	if err == nil {
		err = os.RemoveAll(gone)
	}
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("remove session %s: %w", d.id, err)
	}
	return nil
}

// staleFiles lists the files of a session's directory that the session does not name.
func (s *State) staleFiles(doc Session) ([]string, error) {
	if doc.ID == "" {
		return nil, nil
	}
	named := map[string]bool{}
	var total int64
	for _, r := range slices.Backward(doc.Runs) {
		c := r.Conversation
		if c == nil || named[c.RunID+".tar"] {
			continue
		}
		if total += c.Bytes; total > maxConversations && len(named) > 0 {
			break
		}
		named[c.RunID+".tar"] = true
	}
	var stale []string
	entries, err := os.ReadDir(s.sessionHome(doc.ID))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !named[e.Name()] {
			stale = append(stale, filepath.Join(s.sessionHome(doc.ID), e.Name()))
		}
	}
	half, err := filepath.Glob(filepath.Join(escapeGlob(s.sessionDir(doc.ID)), ".session.json*"))
	return append(stale, half...), err
}
