package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/document"
)

const (
	// MaxSessionRuns bounds the runs of one session.
	MaxSessionRuns = 1000
	// maxSessionFile bounds what is read of a session.json, in bytes.
	maxSessionFile = 16 << 20
	// MaxConversation bounds one kept conversation, in bytes. It is less than the output
	// of all commands of a box together may be, so that this bound is met first.
	MaxConversation = 128 << 20
	// maxConversations bounds the kept conversations of one session, in bytes. The oldest
	// are forgotten first; one cannot go back to before those.
	maxConversations = 2 << 30
	// MaxSessionClaim bounds what is kept of an agent's closing words, in bytes.
	MaxSessionClaim = 500
)

// SessionVersion is the version of session.json.
const SessionVersion = "1.0"

// Session is one conversation with an agent over several runs. It belongs to
// one repository and one agent; what its runs may change is everything else.
type Session struct {
	SchemaVersion string       `json:"schema_version"`
	ID            string       `json:"id"`
	Agent         string       `json:"agent"`
	RepoRoot      string       `json:"repo_root"` // without symlinks
	Base          string       `json:"base"`      // revision the first run was asked to start from
	Origin        string       `json:"origin"`    // the user's commit that this was then
	CreatedAt     time.Time    `json:"created_at"`
	UpdatedAt     time.Time    `json:"updated_at"`
	Runs          []SessionRun `json:"runs"` // the line: what a retry went back before is not in it
}

// SessionRun is one finished run of a session. The run's own record may be gone.
type SessionRun struct {
	RunID        string          `json:"run_id"`
	TaskID       string          `json:"task_id"`
	Status       document.Status `json:"status"`
	Claim        string          `json:"claim"` // the beginning of the agent's own closing words
	Branch       string          `json:"branch,omitempty"`
	RetryOf      string          `json:"retry_of,omitempty"` // run whose place it took
	Resumed      bool            `json:"resumed"`
	Begin        SessionTree     `json:"begin"`
	End          SessionTree     `json:"end"`
	Kept         bool            `json:"kept"`                   // whether Conversation holds what was said in this run
	Conversation *Conversation   `json:"conversation,omitempty"` // what the next run goes on with
	StartedAt    time.Time       `json:"started_at"`
	EndedAt      time.Time       `json:"ended_at"`
}

// SessionTree is a state of the files: a commit in the runner's store.
type SessionTree struct {
	Commit string    `json:"commit"`
	Tree   string    `json:"tree"`
	Time   time.Time `json:"time"`
}

// Conversation is a conversation as the agent's CLI left it in its home. The
// archive was made in a box and is unpacked in boxes only.
type Conversation struct {
	SessionID string   `json:"session_id"` // by the CLI's word
	RunID     string   `json:"run_id"`     // at whose end it was kept
	Paths     []string `json:"paths"`      // members of the archive, below HOME
	Bytes     int64    `json:"bytes"`
}

// TreeOf is the state of the files in a commit.
func TreeOf(c gitdiff.Commit) SessionTree {
	return SessionTree{Commit: c.ID, Tree: c.Tree, Time: c.Time.UTC()}
}

// GitCommit is the commit that has this state of the files.
func (t SessionTree) GitCommit() gitdiff.Commit {
	return gitdiff.Commit{ID: t.Commit, Tree: t.Tree, Time: t.Time}
}

// SessionDir is the directory of a session whose lock is held:
//
//	session.json  the session, replaced at once or not at all
//	lock          held by the one run that is under way
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

// ReadSession reads a session; the error is fs.ErrNotExist's where there is none.
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
		return doc, fmt.Errorf("read session %s: is of version %q and calls itself %q", id, doc.SchemaVersion, doc.ID)
	}
	return doc, nil
}

// ConversationPath is where a conversation is kept.
func (d *SessionDir) ConversationPath(run string) string {
	return filepath.Join(d.state.sessionHome(d.id), run+".tar")
}

// Write replaces the session and then forgets what it no longer names.
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

// sweep removes the conversations that the session does not name, and those
// that are too many.
func (d *SessionDir) sweep(doc Session) error {
	stale, err := d.state.staleFiles(doc)
	for _, path := range stale {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		return fmt.Errorf("clear session %s: %w", d.id, err)
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

// Remove removes the session out of sight first, so that nobody sees half of it.
func (d *SessionDir) Remove() error {
	gone := filepath.Join(d.state.sessionsDir(), ".gone-"+d.id)
	err := os.RemoveAll(gone) // of a removal that was cut short
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
