// Package droid drives Droid, Factory's agent.
package droid

import (
	"context"
	"fmt"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

func init() { agents.Register(agent{}) }

// agent drives Factory's Droid over its JSON-RPC on lines, as a peer of
// conversation: initialize_session or load_session, the settings of a loaded
// session, add_user_message. While the turn is running it goes through these:
//
//		starting → working ⇄ told | held → over
//
//	  - starting: the answers to the requests above; an error in one of them, or an
//	    autonomy other than the one asked for, ends the turn as failed.
//	  - working: messages, tool calls, and requests for permission.
//	  - told: agent_turn_completed came because of a denial of ours: the CLI ends
//	    its turn then, with the reason "completed", and its model has not heard of
//	    it. One more user message tells it, and it works again, maxDenials times
//	    at most; the last denial is the end.
//	  - held: agent_turn_completed came while a subagent runs in the background.
//	    Its report wakes the model by itself.
//	  - over: agent_turn_completed with nothing left; the conversation
//	    finishes, and the CLI leaves at the end of its input.
//
// The turn is clean when the last agent_turn_completed has the reason
// "completed", every call has a result, and we never stopped it. All other
// reasons are failures. The exit code is no part of that: it is always 0.
//
// An attempt the provider failed is repeated by the CLI for four minutes; the
// turn is ended after maxRetries of them or maxRetryTime. Only a whole
// answer of the model starts that count again.
//
// A tool the CLI runs without having asked, where it should have, is asked for
// late: with a command that its rules take for none, or that the repository's
// settings allow meanwhile. A denial then ends the turn as failed.
//
// Frames, settings and failure modes were observed with the pinned version.
type agent struct{}

// Info implements Agent. The version of the package is written here only.
func (agent) Info() agents.Info {
	return agents.Info{
		Name:     "droid",
		Executor: "DROID",
		Title:    "Factory Droid",
		Package:  "droid",
		Version:  "0.215.0",
		Binary:   "droid",
		// Droid is one native binary; the package around it is not kept.
		Install:   agents.Install{Script: `install -D -m 0755 "$(readlink -f "$PREFIX/bin/droid")" "$OUT/usr/local/bin/droid"`},
		Providers: []string{"factory", "anthropic", "openai"},
		Models:    []string{"claude-sonnet-5-5", "gpt-6.1-sol"},
		Wires:     []wire.Wire{wire.AnthropicMessages, wire.OpenAIChat, wire.OpenAIResponses},
		Secrets:   []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"},
		MCPPath:   mcpPath,
		MCPKey:    "mcpServers",
		Setup:     "put an API key of a model provider into ANTHROPIC_API_KEY or OPENAI_API_KEY: Droid brings no model of its own into a box",
		Protocol:  "stream-jsonrpc",
		Remark:    "its own-model mode: no Factory login",
		Limits: []string{
			"runs what it considers harmless (`env`, an assignment, a redirection) without asking. Such calls are in the events, and a call that a rule denies ends the turn after the fact. `PLAN` is safe nevertheless: the tree is mounted read-only.",
		},
		EnvPrefixes: []string{"FACTORY_"},
		Obeys:       []string{"AGENTS.md", ".factory/"},
		Vendor: &agents.Vendor{
			Name: "factory", KeyEnv: "FACTORY_MODEL_API_KEY",
			Wires: []wire.Wire{wire.OpenAIChat, wire.OpenAIResponses, wire.AnthropicMessages},
		},
		Logins: []string{".factory/auth.v2.file"},
		Traces: []string{".factory"},
		Keep:   []string{".factory/sessions"},
		Options: []agents.Option{{
			Name: "autonomy", Type: agents.OptionString, Values: []string{autonomyOff, "low", "medium", "high"},
			Help: "what runs without being asked for, by the risk the model itself claims (default off: everything is asked)",
		}},
	}
}

// Run implements Agent. Its CLI says nothing while a model thinks or a tool
// runs silently: a Turn.Idle below that also ends those.
func (d agent) Run(ctx context.Context, box sandbox.Sandbox, t agents.Turn, h agents.Host) (agents.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	turn, err := d.start(ctx, box, t, h)
	if err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, Message: err.Error(), SessionID: t.SessionID}, err
	}
	turn.Drive(ctx)
	exit, err := turn.Process.Wait()
	return turn.outcome(exit, err, turn.Process.Stderr()), turn.Err(d.Info().Binary, err)
}

// Probe implements Prober: a session that is opened, and the end of the input.
func (d agent) Probe(ctx context.Context, box sandbox.Sandbox, t agents.Turn) (string, error) {
	t.Resume = false
	turn, err := d.start(ctx, box, t, cli.NoHost{})
	if err != nil {
		return "", err
	}
	turn.probing = true
	turn.Drive(ctx)
	exit, err := turn.Process.Wait()
	if err := turn.Err(d.Info().Binary, err); err != nil {
		return "", err
	}
	if o := turn.outcome(exit, err, turn.Process.Stderr()); !turn.ready || o.Version == "" {
		return "", fmt.Errorf("probe %s: %s", d.Info().Binary, o.Message)
	}
	return turn.version, nil
}

// start prepares the box and starts the CLI in it. Whoever drives the turn
// waits for its process.
func (d agent) start(ctx context.Context, box sandbox.Sandbox, t agents.Turn, h agents.Host) (*peer, error) {
	if err := prepare(ctx, box, t); err != nil {
		return nil, err
	}
	p := cli.Start(ctx, box, commandLine(d.Info().Binary, t), environment(t))
	return newPeer(cli.NewConversation(p, t, h)), nil
}
