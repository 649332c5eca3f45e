package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/sandbox"
)

func init() { Register(claude{}) }

// claude drives Claude Code over stream-json in both directions.
//
// A turn is in one of these states:
//
//		running ⇄ held → closing → ended
//		   └───────┴────────┴──→ stopping ──→ ended
//
//	  - running: frames arrive, from the handshake on.
//	  - held: a result without an error arrived while background tasks still run,
//	    while one of them is about to wake the model, or while tool calls are
//	    unanswered. It is not the end: it is forgotten when the agent goes on.
//	  - closing: a result that counts arrived, standard input is closed, and the
//	    process has lingerGrace of silence to leave by itself.
//	  - stopping: we ended it (ctx, silence, a refused key). Approvals are denied,
//	    an interrupt is sent, standard input is closed when its result arrives,
//	    and the box is removed when stopGrace is over.
//
// The turn is clean when its last result has is_error false and terminal_reason
// "completed", nothing held it back, and we never stopped it. The exit code is
// no part of that: it is 0 after SIGINT and 1 after an interrupt. A process that
// stays after such a result is removed with its box; the result stands.
//
// Frames, flags and failure modes were observed with the pinned version.
type claude struct{}

// Bounds of a turn, in time.
const (
	// stopGrace is how long a stopped CLI has to end its turn and leave.
	stopGrace = 2 * time.Second
	// lingerGrace is how long a CLI may take to leave after its last result,
	// and to start over when a background task wakes it.
	lingerGrace = 5 * time.Second
)

// Info implements Agent. The version of the package is written here only.
func (claude) Info() Info {
	return Info{
		Name:     "claude",
		Executor: "CLAUDE_CODE",
		Title:    "Claude Code",
		Package:  "@anthropic-ai/claude-code",
		Version:  "2.1.329",
		BuildArg: "CLAUDE_VERSION",
		Binary:   "claude",
		Provider: "anthropic",
		Secrets:  []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
		MCPPath:  ".claude.json",
		Setup:    "put an API key of the Anthropic console into ANTHROPIC_API_KEY",
	}
}

// Run implements Agent. The CLI streams what the model says and gives a sign of
// life every 30 s while a tool runs: a Turn.Idle below that also ends tools.
func (c claude) Run(ctx context.Context, box sandbox.Sandbox, t Turn, h Host) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{End: EndInterrupted, Code: codeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	p := startProcess(ctx, box, claudeArgv(c.Info().Binary, t), claudeEnv(t))
	turn := newClaudeTurn(p, t, h)
	turn.drive(ctx)
	exit, err := p.wait()
	outcome := turn.outcome(exit, err, p.stderr.String())
	switch stop := turn.end.stop; {
	case stop != nil && stop.cause != nil:
		return outcome, stop.cause
	case err != nil && !errors.Is(err, errKilled):
		return outcome, fmt.Errorf("run %s: %w", c.Info().Binary, err)
	}
	return outcome, nil
}
