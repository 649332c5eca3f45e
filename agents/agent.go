// Package agents drives the command line of one coding agent through one turn
// inside a box. Every agent is one file that registers itself.
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

// Approver decides about tool calls.
type Approver interface {
	// Approve returns when the request is decided. A cancelled ctx denies.
	Approve(ctx context.Context, r ApprovalRequest) Decision
}

// ApprovalRequest is one tool call an agent asks permission for.
type ApprovalRequest struct {
	ID     string // the agent's own id of the request
	ToolID string // joins tool_call and tool_result events
	Tool   string
	Action Action
	Input  []byte // the exact JSON bytes the agent wants to run
}

// Decision answers an ApprovalRequest. The zero value denies.
type Decision struct {
	Allow  bool
	Reason string // told to the model on denial
}

// Info describes an agent.
type Info struct {
	Name     string   // short lower-case name, e.g. "claude"
	Executor string   // profile name, e.g. "CLAUDE_CODE"
	Title    string   // for people, e.g. "Claude Code"
	Package  string   // npm package
	Version  string   // pinned version of the package: the one place it is written
	BuildArg string   // build argument of the image that carries Version
	Binary   string   // program in the box
	Provider string   // provider whose wire it speaks, e.g. "anthropic"
	Secrets  []string // environment variables a key usually lives in on the host
	MCPPath  string   // where the CLI reads MCP servers, below HOME
	Setup    string   // one sentence: how a person gets it ready on the host
}

// Turn is one prompt and everything the CLI needs to work on it.
type Turn struct {
	Prompt    string
	Model     string // "" for the CLI's default
	SessionID string // chosen by the runner, a UUID
	Resume    bool   // continue SessionID instead of starting it
	BaseURL   string // where the CLI finds its model API, on the box's loopback
	Token     string // per-run placeholder; the broker swaps the real key in
	Env       []string
	Args      []string // additional parameters of the profile
	Idle      int      // seconds without a frame after which the turn fails; 0 = DefaultIdle
}

// Outcome is how a turn ended, told by the protocol and by us.
type Outcome struct {
	End       End
	Code      string // stable issue code when End is not EndClean, e.g. "agent_auth"
	Message   string // for people, when End is not EndClean
	Claim     string // the agent's own closing words: a claim, never a fact
	SessionID string
	Model     string
	Version   string // of the CLI, as it reported itself
	Usage     Usage
	Unknown   int // frames nobody knows, kept as raw events
}

// End is the final state of a turn.
type End string

// How turns end. Only EndClean lets a run succeed.
const (
	EndClean       End = "clean"       // the protocol's own end frame, no error in it, no stop of ours
	EndFailed      End = "failed"      // the agent or its provider failed
	EndInterrupted End = "interrupted" // we stopped it
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
