// Package acp drives agents that speak the Agent Client Protocol: Copilot, Gemini
// CLI, Kimi Code and Qwen Code, each an entry of data with its quirks, and any
// other by its command line.
package acp

import (
	"context"
	"fmt"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// acpProtocol is the Info.Protocol of the agents here.
const acpProtocol = "Agent Client Protocol"

// agent drives a CLI that speaks the Agent Client Protocol, version 1, on its
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
type agent struct {
	info func() agents.Info
	// command is the command line and the environment of a turn.
	command func(t agents.Turn) (argv, env []string)
	// prepare readies the box before the CLI starts; nil where nothing is to do.
	prepare func(ctx context.Context, box sandbox.Sandbox, t agents.Turn) error
	// quirks is what the CLI does in its own way in a turn.
	quirks func(t agents.Turn) quirks
	// journal reads what the CLI writes beside the protocol; nil for one that says
	// all by the protocol.
	journal func(box sandbox.Sandbox) journal
}

// Info implements Agent.
func (a agent) Info() agents.Info { return a.info() }

// Run implements Agent.
func (a agent) Run(ctx context.Context, box sandbox.Sandbox, t agents.Turn, h agents.Host) (agents.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	turn, err := a.drive(ctx, box, t, h, false)
	if err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, Message: err.Error(), SessionID: t.SessionID}, err
	}
	exit, err := turn.Process.Wait()
	if err == nil && !turn.Stopping() && turn.quirks.unserved == "" {
		turn.ReportWatched(ctx, box, t.MCP)
	}
	return turn.outcome(exit, err, turn.Process.Stderr()), turn.Err(a.info().Binary, err)
}

// Probe implements Prober: initialize, and the end of the input.
func (a agent) Probe(ctx context.Context, box sandbox.Sandbox, t agents.Turn) (string, error) {
	turn, err := a.drive(ctx, box, t, cli.NoHost{}, true)
	if err != nil {
		return "", err
	}
	exit, err := turn.Process.Wait()
	if err := turn.Err(a.info().Binary, err); err != nil {
		return "", err
	}
	if turn.version == "" {
		o := turn.outcome(exit, err, turn.Process.Stderr())
		return "", fmt.Errorf("probe %s: %s", a.info().Binary, o.Message)
	}
	return turn.version, nil
}

// drive runs a turn until the process has said everything.
func (a agent) drive(ctx context.Context, box sandbox.Sandbox, t agents.Turn, h agents.Host, probing bool) (*peer, error) {
	if a.prepare != nil {
		if err := a.prepare(ctx, box, t); err != nil {
			return nil, err
		}
	}
	var notes journal
	if a.journal != nil {
		notes = a.journal(box)
		if t.Resume {
			if err := notes.skip(ctx, t.SessionID); err != nil {
				return nil, err
			}
		}
	}
	quirks := a.quirks(t)
	if quirks.unserved == "" {
		t.MCP = cli.WatchServers(t.MCP) // the protocol does not tell which are connected
	}
	argv, env := a.command(t)
	if quirks.stays {
		argv = append([]string{"sh", "-c", `umask 077; echo "$$" >"$0"; exec "$@"`, pidFile}, argv...)
	}
	turn := newPeer(ctx, cli.NewConversation(cli.Start(ctx, box, argv, env), t, h), quirks)
	turn.probing, turn.journal = probing, notes
	if quirks.stays {
		turn.terminate = func() { terminate(ctx, box) }
	}
	turn.Drive(ctx)
	turn.close()
	return turn, nil
}

// terminate tells the CLI by a signal to leave. Where that fails, its box is
// removed, as with every CLI that stays.
func terminate(ctx context.Context, box sandbox.Sandbox) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cli.LingerGrace)
	defer cancel()
	var said cli.Tail
	_, _ = box.Exec(ctx, sandbox.Command{Argv: []string{"sh", "-c", `kill -TERM "$(cat "$0")"`, pidFile}, Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said})
}
