package agents

import (
	"context"
	"fmt"

	"sandboxrun/sandbox"
)

func init() { Register(codex{}) }

// codex drives Codex over the JSON-RPC of its app server, as a peer of
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
//	  - over: the conversation is told to finish.
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
type codex struct{}

// codexKeep is what a resumed thread needs of Codex's HOME.
var codexKeep = []string{codexHome + "/sessions"}

// Info implements Agent. The version of the package is written here only.
func (codex) Info() Info {
	return Info{
		Name:     "codex",
		Executor: "CODEX",
		Title:    "Codex",
		Package:  "@openai/codex",
		Version:  "0.169.0",
		Binary:   "codex",
		// Codex is a native binary that looks for its neighbours; the JavaScript
		// around it and the voice are not kept.
		Install: Install{Script: `mkdir -p "$OUT$(dirname "$PREFIX")" "$OUT/usr/local/bin"
mv "$PREFIX"/lib/node_modules/@openai/codex/node_modules/@openai/codex-linux-*/vendor/* "$OUT$PREFIX"
rm -rf "$OUT$PREFIX/codex-resources/voice"
ln -s "$PREFIX/bin/codex" "$OUT/usr/local/bin/codex"`},
		Providers: []string{"openai"},
		Wires:     []Wire{WireOpenAIResponses},
		Secrets:   []string{"OPENAI_API_KEY", "CODEX_API_KEY"},
		MCPPath:   codexConfigPath,
		MCPKey:    "mcp_servers",
		Setup:     "put an API key of the OpenAI platform into OPENAI_API_KEY",
		Logins:    []string{".codex/auth.json"},
		Traces:    []string{".codex"},
		Keep:      codexKeep,
		Options:   codexOptions,
		Variants: map[string]Settings{
			"WORKSPACE_WRITE": {"sandbox": []byte(`"workspace-write"`)},
			"READ_ONLY":       {"sandbox": []byte(`"read-only"`)},
		},
	}
}

// Run implements Agent. Its own sandbox cannot work inside of a box, so every
// turn says that there is one around it.
func (c codex) Run(ctx context.Context, box sandbox.Sandbox, t Turn, h Host) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{End: EndInterrupted, Code: codeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	if err := codexPrepare(ctx, box, t); err != nil {
		return Outcome{End: EndInterrupted, Code: codeNoResult, Message: err.Error(), SessionID: t.SessionID}, err
	}
	p := startProcess(ctx, box, codexArgv(c.Info().Binary, t), codexEnv(t))
	turn := newCodexTurn(newConversation(p, t, h))
	turn.drive(ctx)
	exit, err := p.wait()
	return turn.outcome(exit, err, p.stderr.String()), turn.failure(c.Info().Binary, err)
}

// Probe implements Prober: initialize, and the end of the input.
func (c codex) Probe(ctx context.Context, box sandbox.Sandbox, t Turn) (string, error) {
	if err := codexPrepare(ctx, box, t); err != nil {
		return "", err
	}
	p := startProcess(ctx, box, codexArgv(c.Info().Binary, t), codexEnv(t))
	turn := newCodexTurn(newConversation(p, t, nobody{}))
	turn.probing = true
	turn.drive(ctx)
	exit, err := p.wait()
	if err := turn.failure(c.Info().Binary, err); err != nil {
		return "", err
	}
	if turn.version == "" {
		o := turn.outcome(exit, err, p.stderr.String())
		return "", fmt.Errorf("probe %s: %s", c.Info().Binary, o.Message)
	}
	return turn.version, nil
}
