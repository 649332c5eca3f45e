// Package pi drives Pi, a small agent that leaves to extensions what others
// build in.
package pi

import (
	"context"
	"fmt"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

func init() { agents.Register(agent{}) }

// agent drives Pi in its RPC mode, JSON on lines, as a peer of conversation. Pi
// asks nobody before it uses a tool, so it is given an extension of ours, the
// guard (guard.mjs), which asks through Pi's own dialogs; asks the user what the
// model wants to know; and starts the MCP servers of the task. While the turn is
// running it goes through these:
//
//	starting → working → over
//
//	  - starting: get_state is answered once extensions are loaded. A session
//	    without the guard, another one than asked for, or a resumed one without
//	    messages ends the turn as failed before anything is prompted.
//	  - working: messages, tool calls, dialogs of the guard, and up to three
//	    attempts more after an answer the provider failed.
//	  - over: agent_settled says that the CLI will not go on by itself; the
//	    conversation finishes, and the CLI leaves at the end of its input.
//
// The turn is clean when agent_settled came, the last answer of the model ended
// with "stop", every call has a result, and we never stopped it. An answer that
// ended with "error" failed, as did one cut at the model's limit ("length"). The
// exit code is no part of that: it is 0 after an error of the provider.
//
// Frames, settings and failure modes were observed with the pinned version.
type agent struct{}

// serverKit is the library with which the guard speaks to MCP servers.
const serverKit = "@modelcontextprotocol/sdk@1.32.2"

// Info implements Agent. The version of the package is written here only.
func (agent) Info() agents.Info {
	return agents.Info{
		Name:      "pi",
		Executor:  "PI",
		Title:     "Pi",
		Package:   "@earendil-works/pi-coding-agent",
		Version:   "0.87.1",
		Binary:    "pi",
		Install:   agents.Install{Packages: []string{serverKit}},
		Providers: []string{"anthropic", "openai", "google"},
		Models:    []string{"claude-sonnet-5-5", "gpt-6.1-sol", "gemini-2.5-pro"},
		Wires:     []wire.Wire{wire.AnthropicMessages, wire.OpenAIResponses, wire.OpenAIChat, wire.GoogleGenerate},
		Secrets:   []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"},
		MCPPath:   guardPath,
		MCPKey:    "servers",
		Setup:     "put an API key of Anthropic, OpenAI or Google into ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY",
		Protocol:  "RPC mode: JSON lines; asking, questions and MCP servers by an extension of ours",
		Limits: []string{
			"asks nobody by itself. The extension that makes it ask is a file of HOME in the box, read once at the start; a turn in which it is missing is not begun.",
		},
		EnvPrefixes: []string{"PI_"},
		Obeys:       []string{"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", ".pi/"},
		Logins:      []string{agentDir + "/auth.json"},
		Traces:      []string{".pi"},
		Keep:        []string{sessionsDir},
		Options: []agents.Option{{
			Name: "thinking", Type: agents.OptionString, Values: []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"},
			Help: "how much the model thinks, as far as it can (default: the program's own, medium)",
		}},
	}
}

// Run implements Agent. Frames come with every piece the model says, and the
// guard gives a sign of life every ten seconds while a tool runs: a Turn.Idle
// below that also ends tools.
func (a agent) Run(ctx context.Context, box sandbox.Sandbox, t agents.Turn, h agents.Host) (agents.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	turn, err := a.start(ctx, box, t, h)
	if err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, Message: err.Error(), SessionID: t.SessionID}, err
	}
	turn.Drive(ctx)
	exit, err := turn.Process.Wait()
	return turn.outcome(exit, err, turn.Process.Stderr()), turn.Err(a.Info().Binary, err)
}

// Probe implements Prober: a session that is opened, and the end of the input.
func (a agent) Probe(ctx context.Context, box sandbox.Sandbox, t agents.Turn) (string, error) {
	t.Resume = false
	turn, err := a.start(ctx, box, t, cli.NoHost{})
	if err != nil {
		return "", err
	}
	turn.probing = true
	turn.Drive(ctx)
	exit, err := turn.Process.Wait()
	if err := turn.Err(a.Info().Binary, err); err != nil {
		return "", err
	}
	if !turn.ready {
		return "", fmt.Errorf("probe %s: %s", a.Info().Binary, turn.outcome(exit, err, turn.Process.Stderr()).Message)
	}
	return turn.version, nil
}

// start prepares the box and starts the CLI in it. Whoever drives the turn
// waits for its process.
func (a agent) start(ctx context.Context, box sandbox.Sandbox, t agents.Turn, h agents.Host) (*peer, error) {
	if err := prepare(ctx, box, t); err != nil {
		return nil, err
	}
	p := cli.Start(ctx, box, commandLine(a.Info().Binary, t), environment(t))
	return newPeer(cli.NewConversation(p, t, h)), nil
}
