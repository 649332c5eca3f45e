package agents

import (
	"context"
	"net"
	"time"

	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

// Turn is one prompt and everything the CLI needs to work on it.
type Turn struct {
	Prompt string
	Model  string // "" for the CLI's default
	// SessionID names the conversation. In a first turn it is a UUID chosen by
	// the runner, for a CLI that lets itself be told; with Resume it is the id
	// that the Outcome of the turn before reported.
	SessionID string
	Resume    bool
	Wire      wire.Wire // the model API to speak, one of Info.Wires
	BaseURL   string    // where the CLI finds that API on the box's loopback, without a version segment
	Token     string    // per-run placeholder; the broker swaps the real key in
	Env       []string
	Args      []string // additional parameters of the profile
	Settings  Settings // fields of the profile that Info.Options declares
	MCP       []Server // MCP servers for this turn
	ReadOnly  bool     // the turn may look and plan; its tree is mounted read-only
	Dial      Dial     // reaches a port on the box's loopback; nil where that is not possible
	Idle      int      // seconds without a frame after which the turn fails; 0 = DefaultIdle
}

// DefaultIdle is how long an agent may say nothing at all, where a Turn does not
// say. Waiting for an approval does not count.
const DefaultIdle = 120 * time.Second

// IdleLimit is how long the turn may go without a frame: Idle, or DefaultIdle.
func (t Turn) IdleLimit() time.Duration {
	if t.Idle > 0 {
		return time.Duration(t.Idle) * time.Second
	}
	return DefaultIdle
}

// Dial connects to a TCP port on the loopback of a box.
type Dial func(ctx context.Context, port int) (net.Conn, error)

// Server is one MCP server: a program in the box, or an address it can reach.
type Server struct {
	Name    string            `json:"-"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Prober is an agent that can show without a turn, a model or a network that
// its CLI is in the box and speaks its protocol.
type Prober interface {
	// Probe makes the CLI's handshake, ends it and returns the version the CLI
	// reported. The box is gone or unusable after an error.
	Probe(ctx context.Context, box sandbox.Sandbox, t Turn) (version string, err error)
}
