// Package agents says what a coding agent is to the runner: what is known of it
// (Info), one turn of it (Turn), what it reports (Event, Outcome), and the
// registry. The adapters are packages below; package all registers them.
package agents

import (
	"context"

	"sandboxrun/sandbox"
)

// Agent drives one agent CLI.
type Agent interface {
	// Info is pure: the same value every time, no disk, no network.
	Info() Info
	// Run drives one turn to its end and returns how it ended. What the agent
	// did or said is an Outcome, also when it failed; an error means that the
	// turn could not be driven (the box was lost, hit a limit, ctx ended).
	// Events reach h in order while the turn runs.
	Run(ctx context.Context, box sandbox.Sandbox, t Turn, h Host) (Outcome, error)
}

// Host is what an agent needs from the runner during a turn.
type Host interface {
	EventSink
	Approver
}

// EventSink receives normalized events. Emit must not block for long and may
// be called from one goroutine at a time.
type EventSink interface {
	Emit(e Event)
}

// Outcome is how a turn ended, by the protocol and by the adapter.
type Outcome struct {
	End       End
	Code      string // stable issue code when End is not EndClean, e.g. "agent_auth"
	Message   string // for people, when End is not EndClean
	Claim     string // the agent's own closing words: a claim, never a fact
	SessionID string
	Model     string
	Version   string // of the CLI, as it reported itself
	Usage     Usage
	Unknown   int // frames of an unknown kind, emitted as raw events
}

// End is the final state of a turn.
type End string

// How turns end. Only EndClean lets a run succeed.
const (
	EndClean       End = "clean"       // the protocol's own end frame, without an error, and not stopped by the runner
	EndFailed      End = "failed"      // the agent or its provider failed
	EndInterrupted End = "interrupted" // the runner stopped it
)

// Stable issue codes of turns that did not end clean.
const (
	CodeAuth     = "agent_auth"      // the provider refuses the key
	CodeQuota    = "agent_quota"     // the provider's limit or the account's credit is used up
	CodeCrashed  = "agent_crashed"   // the CLI ended without a result and with an error
	CodeNoResult = "agent_no_result" // no result: the CLI left quietly, fell silent, or was stopped
	CodeFailed   = "agent_failed"    // the CLI reports itself that the turn failed
)

// Usage counts model tokens of one turn.
type Usage struct {
	InputTokens      int64   `json:"input_tokens"`
	OutputTokens     int64   `json:"output_tokens"`
	CacheReadTokens  int64   `json:"cache_read_tokens"`
	CacheWriteTokens int64   `json:"cache_write_tokens"`
	Turns            int     `json:"turns"`
	CostUSD          float64 `json:"cost_usd"` // the CLI's own estimate, cumulative over a session
}
