// Package view shows a run in whatever state it is, in the one form that lists, the server and the command line share.
package view

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"sandboxrun/runner/document"
)

// State is where a run is between being accepted and its result.
type State string

// States of a run.
const (
	Queued   State = "queued"   // accepted, and waits for its turn
	Starting State = "starting" // a process has taken it and has not begun its first phase
	Running  State = "running"
	Ended    State = "ended"   // it has a result
	Refused  State = "refused" // it cannot be run, and has an error document instead of a result
	Crashed  State = "crashed" // its process died; it has a result once it is settled
)

// RunView is a run as lists show it. Fields that are not known yet are zero.
type RunView struct {
	RunID       string          `json:"run_id"`
	TaskID      string          `json:"task_id"`
	State       State           `json:"state"`
	Status      document.Status `json:"status,omitempty"` // of an ended run
	Phase       string          `json:"phase,omitempty"`  // of a running one
	Summary     string          `json:"summary"`
	Objective   string          `json:"objective"`
	RepoRoot    string          `json:"repo_root"`
	WorkspaceID string          `json:"workspace_id"`
	Agent       string          `json:"agent"` // "" in command mode
	Variant     string          `json:"variant"`
	Model       string          `json:"model"`
	SessionID   string          `json:"session_id,omitempty"`
	Queued      *Place          `json:"queued,omitempty"` // only while it waits

	ApprovalsPending int        `json:"approvals_pending"`
	StartedAt        time.Time  `json:"started_at"` // when it was accepted
	EndedAt          *time.Time `json:"ended_at,omitempty"`
	LimitSeconds     int        `json:"limit_seconds"`

	Branch    string   `json:"branch,omitempty"`
	Files     int      `json:"files"` // changed ones
	Additions int      `json:"additions"`
	Deletions int      `json:"deletions"`
	Tokens    Tokens   `json:"tokens"`
	Issues    []string `json:"issues"` // codes, each once, the gravest first

	Attempts     int    `json:"attempts"`                // 1 for a first run, more for a repetition
	SupersededBy string `json:"superseded_by,omitempty"` // the run that repeats this one
	CompareID    string `json:"compare_id,omitempty"`
}

// Place is where a run waits.
type Place struct {
	Position   int    `json:"position"` // 1 for the next of all
	WaitingFor string `json:"waiting_for"`
}

// Tokens is what the broker counted.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
}

// WorkspaceID identifies a repository by its resolved root; "" for none.
func WorkspaceID(root string) string {
	if root == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:8])
}
