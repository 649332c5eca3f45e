// Package codex drives Codex, OpenAI's agent.
package codex

import (
	"context"
	"fmt"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

func init() { agents.Register(agent{}) }

// agent drives Codex over the JSON-RPC of its app server, as a peer of
// conversation: initialize, thread/start or thread/resume, turn/start. While
// the turn is running it goes through these:
//
//		starting → working → (held → cleaning) → over
//
//	  - starting: the answers to the three requests; an error in one of them ends
//	    the turn as failed.
//	  - working: items arrive, and requests for permission.
//	  - held: turn/completed arrived without an error while commands of the model
//	    still run. They may end by themselves within lingerGrace.
//	  - cleaning: they were told to end (thread/backgroundTerminals/clean) and have
//	    another lingerGrace to say how they did.
//	  - over: the conversation finishes.
//
// A stop of ours sends turn/interrupt, which ends the turn but none of its
// commands; the clean-up follows the turn's end, and the end of the input
// follows that.
//
// The turn is clean when turn/completed for it has the status "completed" and no
// error, and we never stopped it. Commands that were still running do not change
// that, and neither does the exit code, which is 0 after the end of the input.
// turn/completed of another thread (a subagent's) or another turn is no end.
//
// Frames, settings and failure modes were observed with the pinned version.
type agent struct{}

// keptPaths is what a resumed thread needs of Codex's HOME.
var keptPaths = []string{homeDir + "/sessions"}

// Info implements Agent. The version of the package is written here only.
func (agent) Info() agents.Info {
	return agents.Info{
		Name:     "codex",
		Executor: "CODEX",
		Title:    "Codex",
		Package:  "@openai/codex",
		Version:  "0.169.0",
		Binary:   "codex",
		// Codex is a native binary that looks for its neighbours; the JavaScript
		// around it and the voice are not kept.
		Install: agents.Install{Script: `mkdir -p "$OUT$(dirname "$PREFIX")" "$OUT/usr/local/bin"
mv "$PREFIX"/lib/node_modules/@openai/codex/node_modules/@openai/codex-linux-*/vendor/* "$OUT$PREFIX"
rm -rf "$OUT$PREFIX/codex-resources/voice"
ln -s "$PREFIX/bin/codex" "$OUT/usr/local/bin/codex"`},
		Providers: []string{"openai"},
		Models:    []string{"gpt-6.1-sol"},
		Wires:     []wire.Wire{wire.OpenAIResponses},
		Secrets:   []string{"OPENAI_API_KEY", "CODEX_API_KEY"},
		MCPPath:   configPath,
		MCPKey:    "mcp_servers",
		Setup:     "put an API key of the OpenAI platform into OPENAI_API_KEY",
		Protocol:  "`app-server`, JSON-RPC",
		Limits: []string{
			"`oss` and `profile` of a profile are accepted and ignored, and the run reports that: a box has no local model and none of the user's files.",
		},
		EnvPrefixes: []string{"OPENAI_", "CODEX_"},
		Obeys:       []string{"AGENTS.md", "AGENTS.override.md", ".codex/"},
		Logins:      []string{".codex/auth.json"},
		Traces:      []string{".codex"},
		Keep:        keptPaths,
		Options:     profileOptions,
		Variants: map[string]agents.Settings{
			"WORKSPACE_WRITE": {"sandbox": []byte(`"workspace-write"`)},
			"READ_ONLY":       {"sandbox": []byte(`"read-only"`)},
		},
	}
}

// Run implements Agent. Its own sandbox cannot work inside of a box, so every
// turn says that there is one around it.
func (c agent) Run(ctx context.Context, box sandbox.Sandbox, t agents.Turn, h agents.Host) (agents.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	if err := prepare(ctx, box, t); err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, Message: err.Error(), SessionID: t.SessionID}, err
	}
	p := cli.Start(ctx, box, commandLine(c.Info().Binary, t), environment(t))
	turn := newPeer(cli.NewConversation(p, t, h))
	turn.Drive(ctx)
	exit, err := p.Wait()
	return turn.outcome(exit, err, p.Stderr()), turn.Err(c.Info().Binary, err)
}

// Probe implements Prober: initialize, and the end of the input.
func (c agent) Probe(ctx context.Context, box sandbox.Sandbox, t agents.Turn) (string, error) {
	if err := prepare(ctx, box, t); err != nil {
		return "", err
	}
	p := cli.Start(ctx, box, commandLine(c.Info().Binary, t), environment(t))
	turn := newPeer(cli.NewConversation(p, t, cli.NoHost{}))
	turn.probing = true
	turn.Drive(ctx)
	exit, err := p.Wait()
	if err := turn.Err(c.Info().Binary, err); err != nil {
		return "", err
	}
	if turn.version == "" {
		o := turn.outcome(exit, err, p.Stderr())
		return "", fmt.Errorf("probe %s: %s", c.Info().Binary, o.Message)
	}
	return turn.version, nil
}
