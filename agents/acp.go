package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sandboxrun/sandbox"
)

// acpAgent drives a CLI that speaks the Agent Client Protocol, version 1, on its
// standard streams: JSON-RPC 2.0, one message a line. It is a peer of
// conversation, and inside of "running" the turn is in one of these phases:
//
//	initialize → session/new ────────────────────────→ [session/set_mode] → session/prompt → end
//	         └→ session/load → [the replay's end] ──┘                        ↑          │
//	                                                                          └── again ─┘
//
// The turn is clean when the answer to the last session/prompt has stopReason
// "end_turn", nothing in it or before it says that the model failed (quirks.fault
// and quirks.verdict know how a CLI says so), and we never stopped it. Every
// other stop reason, every error of JSON-RPC and a process that leaves before
// that answer are failures. The exit code is no part of it.
//
// The client claims no capability: files and commands stay in the CLI, which
// asks for permission. What differs between CLIs is in its fields.
type acpAgent struct {
	info func() Info
	// command is the command line and the environment of a turn.
	command func(t Turn) (argv, env []string)
	// prepare readies the box before the CLI starts; nil where nothing is to do.
	prepare func(ctx context.Context, box sandbox.Sandbox, t Turn) error
	// quirks is what the CLI does in its own way in a turn.
	quirks func(t Turn) acpQuirks
}

// acpQuirks is what one CLI does in its own way. The zero value is a CLI that
// does as the protocol says.
type acpQuirks struct {
	model string // what the turn was started with, where the CLI does not say
	// tool names the tool of a call, which the protocol has no field for; ""
	// falls back to the kind of the call.
	tool func(u *acpUpdate) string
	// mcp says that a tool is one of an MCP server.
	mcp func(tool string) bool
	// titled says that the title of a command's call is its command line.
	titled bool
	// noise are methods and kinds of update of its own that mean nothing here.
	noise []string
	// noServers keeps the turn's MCP servers out of the session: the CLI got them otherwise.
	noServers bool
	// unserved says why the CLI starts none of the turn's MCP servers; "" says that it does.
	unserved string
	// loaded is the update that ends the replay of a loaded session; "" says that
	// the replay is over with the answer to session/load.
	loaded string
	// notice reads a chunk of the agent's message that is the CLI's own word.
	// fresh says that no message of the model is open.
	notice func(text string, fresh bool) acpNotice
	// verdict judges the answer to a prompt that says end_turn; nil is clean.
	verdict func(r acpPromptResult) *acpFault
	// again says of an error of session/prompt that a connection broke which the
	// CLI did not try again.
	again func(e *acpFault) bool
	// usage reads the tokens of a prompt from its answer.
	usage func(r acpPromptResult) (Usage, bool)
	// cumulative says that the usage of a prompt covers the prompts before it.
	cumulative bool
	// questions are what a call asks the user, nil for any other. They are keyed
	// by their number, and so are the answers.
	questions func(u *acpUpdate) []Question
	// stays says that the CLI may not leave when its input ends, and is told by SIGTERM.
	stays bool
}

// acpNotice is what a chunk of the CLI's own is.
type acpNotice int

const (
	acpSaid    acpNotice = iota // the model's words
	acpSilent                   // nothing
	acpRemark                   // a remark for people
	acpFailure                  // the model failed, when nothing follows
)

// Bounds of a turn.
const (
	// acpAgain bounds how often a prompt is repeated after a broken connection.
	acpAgain = 2
	// acpDenials bounds how often the model is told to go on after a denial.
	acpDenials = 8
	// acpReplay is how long the replay of a session may be silent before its end.
	acpReplay = 20 * time.Second
	// acpPID is where a CLI that is told by a signal to leave has its process id.
	acpPID = "/tmp/.sandboxrun-agent.pid"
)

// Info implements Agent.
func (a acpAgent) Info() Info { return a.info() }

// Run implements Agent.
func (a acpAgent) Run(ctx context.Context, box sandbox.Sandbox, t Turn, h Host) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{End: EndInterrupted, Code: codeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	turn, err := a.drive(ctx, box, t, h, false)
	if err != nil {
		return Outcome{End: EndInterrupted, Code: codeNoResult, Message: err.Error(), SessionID: t.SessionID}, err
	}
	exit, err := turn.p.wait()
	return turn.outcome(exit, err, turn.p.stderr.String()), turn.failure(a.info().Binary, err)
}

// Probe implements Prober: initialize, and the end of the input.
func (a acpAgent) Probe(ctx context.Context, box sandbox.Sandbox, t Turn) (string, error) {
	turn, err := a.drive(ctx, box, t, nobody{}, true)
	if err != nil {
		return "", err
	}
	exit, err := turn.p.wait()
	if err := turn.failure(a.info().Binary, err); err != nil {
		return "", err
	}
	if turn.version == "" {
		o := turn.outcome(exit, err, turn.p.stderr.String())
		return "", fmt.Errorf("probe %s: %s", a.info().Binary, o.Message)
	}
	return turn.version, nil
}

// drive runs a turn until the process has said everything.
func (a acpAgent) drive(ctx context.Context, box sandbox.Sandbox, t Turn, h Host, probing bool) (*acpTurn, error) {
	if a.prepare != nil {
		if err := a.prepare(ctx, box, t); err != nil {
			return nil, err
		}
	}
	argv, env := a.command(t)
	quirks := a.quirks(t)
	if quirks.stays {
		argv = append([]string{"sh", "-c", `umask 077; echo "$$" >"$0"; exec "$@"`, acpPID}, argv...)
	}
	turn := newACPTurn(ctx, newConversation(startProcess(ctx, box, argv, env), t, h), quirks)
	turn.probing = probing
	if quirks.stays {
		turn.terminate = func() { acpTerminate(ctx, box) }
	}
	turn.drive(ctx)
	turn.close()
	return turn, nil
}

// acpTerminate tells the CLI by a signal to leave. Where that fails, its box is
// removed, as with every CLI that stays.
func acpTerminate(ctx context.Context, box sandbox.Sandbox) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lingerGrace)
	defer cancel()
	var said tail
	_, _ = box.Exec(ctx, sandbox.Command{Argv: []string{"sh", "-c", `kill -TERM "$(cat "$0")"`, acpPID}, Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said})
}
