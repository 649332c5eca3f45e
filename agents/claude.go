package agents

import (
	"context"
	"encoding/json"
	"fmt"

	"sandboxrun/sandbox"
)

func init() { Register(claude{}) }

// claude drives Claude Code over stream-json in both directions, as a peer of
// conversation. While the turn is running a result may be held: it arrived
// without an error while background tasks still run, while one of them is about
// to wake the model, or while tool calls are unanswered. It is not the end then:
// it is forgotten when the agent goes on.
//
// The turn is clean when its last result has is_error false and terminal_reason
// "completed", nothing held it back, and we never stopped it. The exit code is
// no part of that: it is 0 after SIGINT and 1 after an interrupt. A process that
// stays after such a result is removed with its box; the result stands.
//
// Frames, flags and failure modes were observed with the pinned version.
type claude struct{}

// claudeInstall keeps the one native binary Claude Code is, and the router's
// bundle without what it was made from.
const claudeInstall = `install -D -m 0755 "$(readlink -f "$PREFIX/bin/claude")" "$OUT/usr/local/bin/claude"
mkdir -p "$OUT$PREFIX"
mv "$PREFIX/lib/node_modules/@musistudio/claude-code-router" "$OUT$PREFIX/router"
rm -rf "$OUT$PREFIX/router/node_modules"
ln -s "$PREFIX/router/dist/cli.js" "$OUT/usr/local/bin/ccr"`

// Info implements Agent. The version of the package is written here only.
func (claude) Info() Info {
	return Info{
		Name:      "claude",
		Executor:  "CLAUDE_CODE",
		Title:     "Claude Code",
		Package:   "@anthropic-ai/claude-code",
		Version:   "2.1.329",
		Binary:    "claude",
		Install:   Install{Packages: []string{claudeRouterPackage}, Script: claudeInstall},
		Providers: []string{"anthropic"},
		// The second one goes through the router.
		Wires:   []Wire{WireAnthropicMessages, WireOpenAIChat},
		Secrets: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
		MCPPath: ".claude.json",
		MCPKey:  "mcpServers",
		Setup:   "put an API key of the Anthropic console into ANTHROPIC_API_KEY",
		Logins:  []string{".claude/.credentials.json"},
		Traces:  []string{".claude", ".claude.json"},
		Keep:    []string{".claude/projects", ".claude/plans"},
		Options: []Option{
			{Name: "claude_code_router", Type: OptionBool, Help: "go through claude-code-router to a provider of OpenAI Chat Completions"},
			{Name: "plan", Type: OptionBool, ReadOnly: []string{"true"}, Help: "plan mode: look and plan, change nothing"},
			{Name: "approvals", Type: OptionBool, Ask: []string{"true"}, Help: "a person decides about tool calls"},
			{Name: "dangerously_skip_permissions", Type: OptionBool, Help: "the program does not ask; rules and policy of the task then see no calls"},
			{Name: "disable_api_key", Type: OptionBool, Help: "send the credential as a login's token instead of an API key"},
		},
		Variants: map[string]Settings{"ROUTER": {
			"claude_code_router": json.RawMessage("true"), "provider": json.RawMessage(`"openai"`),
		}},
	}
}

// Run implements Agent. The CLI streams what the model says and gives a sign of
// life every 30 s while a tool runs: a Turn.Idle below that also ends tools.
func (c claude) Run(ctx context.Context, box sandbox.Sandbox, t Turn, h Host) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{End: EndInterrupted, Code: codeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	info := c.Info()
	if err := claudeConfigure(ctx, box, info.MCPPath, info.MCPKey, t.MCP); err != nil {
		return Outcome{End: EndInterrupted, Code: codeNoResult, SessionID: t.SessionID}, err
	}
	argv, env := claudeArgv(info, t), claudeEnv(t)
	if claudeRouted(t) {
		if err := claudeRoute(ctx, box, t); err != nil {
			return Outcome{End: EndInterrupted, Code: codeNoResult, SessionID: t.SessionID}, err
		}
		argv, env = claudeThroughRouter(info, t)
	}
	p := startProcess(ctx, box, argv, env)
	turn := newClaudeTurn(newConversation(p, t, h))
	turn.drive(ctx)
	exit, err := p.wait()
	o := turn.outcome(exit, err, p.stderr.String())
	if claudeRouted(t) {
		o.Model = claudeRoutedModel(t) // the CLI does not know it
	}
	return o, turn.failure(info.Binary, err)
}

// Probe implements Prober: the answer to initialize is the handshake. It does
// not hold the version, so the program is asked for that on its own.
func (c claude) Probe(ctx context.Context, box sandbox.Sandbox, t Turn) (string, error) {
	info := c.Info()
	version, err := programVersion(ctx, box, info.Binary, claudeEnv(t))
	if err != nil {
		return "", err
	}
	p := startProcess(ctx, box, claudeArgv(info, t), claudeEnv(t))
	turn := &claudeProbe{claudeTurn: newClaudeTurn(newConversation(p, t, nobody{}))}
	turn.peer = turn
	turn.drive(ctx)
	exit, err := p.wait()
	switch failed := turn.failure(info.Binary, err); {
	case failed != nil:
		return "", failed
	case !turn.answered:
		return "", fmt.Errorf("no answer to initialize (exit code %d): %s", exit.Code, p.stderr.String())
	}
	return version, nil
}
