// Package claude drives Claude Code, Anthropic's agent.
package claude

import (
	"context"
	"encoding/json"
	"fmt"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

func init() { agents.Register(agent{}) }

// agent drives Claude Code over stream-json in both directions, as a peer of
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
type agent struct{}

// installScript keeps the one native binary Claude Code is, and the router's
// bundle without what it was made from.
const installScript = `install -D -m 0755 "$(readlink -f "$PREFIX/bin/claude")" "$OUT/usr/local/bin/claude"
mkdir -p "$OUT$PREFIX"
mv "$PREFIX/lib/node_modules/@musistudio/claude-code-router" "$OUT$PREFIX/router"
rm -rf "$OUT$PREFIX/router/node_modules"
ln -s "$PREFIX/router/dist/cli.js" "$OUT/usr/local/bin/ccr"`

// Info implements Agent. The version of the package is written here only.
func (agent) Info() agents.Info {
	return agents.Info{
		Name:      "claude",
		Executor:  "CLAUDE_CODE",
		Title:     "Claude Code",
		Package:   "@anthropic-ai/claude-code",
		Version:   "2.1.329",
		Binary:    "claude",
		Install:   agents.Install{Packages: []string{routerPackage}, Script: installScript},
		Providers: []string{"anthropic"},
		// The second one goes through the router.
		Models:  []string{"claude-opus-5-5*", "claude-sonnet-5-5*", routerModel},
		Helpers: []string{"claude-haiku-*"},
		Aliases: map[string][]string{
			"opus": {"claude-opus-*"}, "sonnet": {"claude-sonnet-*"}, "haiku": {"claude-haiku-*"}, "opusplan": {"claude-opus-*", "claude-sonnet-*"},
			"default": {"claude-opus-5-5*", "claude-sonnet-5-5*"},
		},
		Wires:       []wire.Wire{wire.AnthropicMessages, wire.OpenAIChat},
		Secrets:     []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
		MCPPath:     ".claude.json",
		MCPKey:      "mcpServers",
		Setup:       "put an API key of the Anthropic console into ANTHROPIC_API_KEY",
		Protocol:    "stream-json with control requests",
		Remark:      "Chat Completions through claude-code-router (variant `ROUTER`)",
		EnvPrefixes: []string{"ANTHROPIC_", "CLAUDE_"},
		Obeys:       []string{"CLAUDE.md", "CLAUDE.local.md", ".claude/", ".mcp.json"},
		Logins:      []string{".claude/.credentials.json"},
		Traces:      []string{".claude", ".claude.json"},
		Keep:        []string{".claude/projects", ".claude/plans"},
		Options: []agents.Option{
			{Name: "claude_code_router", Type: agents.OptionBool, Help: "go through claude-code-router to a provider of OpenAI Chat Completions"},
			{Name: "plan", Type: agents.OptionBool, ReadOnly: []string{"true"}, Help: "plan mode: look and plan, change nothing"},
			{Name: "approvals", Type: agents.OptionBool, Ask: []string{"true"}, Help: "a person decides about tool calls"},
			{Name: "dangerously_skip_permissions", Type: agents.OptionBool, Help: "the program does not ask; rules and policy of the task then see no calls"},
			{Name: "disable_api_key", Type: agents.OptionBool, Help: "send the credential as a login's token instead of an API key"},
		},
		Variants: map[string]agents.Settings{"ROUTER": {
			"claude_code_router": json.RawMessage("true"), "provider": json.RawMessage(`"openai"`),
		}},
	}
}

// Run implements Agent. The CLI streams what the model says and gives a sign of
// life every 30 s while a tool runs: a Turn.Idle below that also ends tools.
func (c agent) Run(ctx context.Context, box sandbox.Sandbox, t agents.Turn, h agents.Host) (agents.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	info := c.Info()
	if err := writeServers(ctx, box, info.MCPPath, info.MCPKey, t.MCP); err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, SessionID: t.SessionID}, err
	}
	argv, env := commandLine(info, t), environment(t)
	if routed(t) {
		if err := writeRouterConfig(ctx, box, t); err != nil {
			return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, SessionID: t.SessionID}, err
		}
		argv, env = throughRouter(info, t)
	}
	p := cli.Start(ctx, box, argv, env)
	turn := newPeer(cli.NewConversation(p, t, h))
	turn.Drive(ctx)
	exit, err := p.Wait()
	o := turn.outcome(exit, err, p.Stderr())
	if routed(t) {
		o.Model = routedModel(t) // the CLI does not know it
	}
	return o, turn.Err(info.Binary, err)
}

// Probe implements Prober: the answer to initialize is the handshake. It does
// not hold the version, so the program is asked for that on its own.
func (c agent) Probe(ctx context.Context, box sandbox.Sandbox, t agents.Turn) (string, error) {
	info := c.Info()
	version, err := cli.ProgramVersion(ctx, box, info.Binary, environment(t))
	if err != nil {
		return "", err
	}
	p := cli.Start(ctx, box, commandLine(info, t), environment(t))
	turn := &probe{peer: newPeer(cli.NewConversation(p, t, cli.NoHost{}))}
	turn.Peer = turn
	turn.Drive(ctx)
	exit, err := p.Wait()
	switch failed := turn.Err(info.Binary, err); {
	case failed != nil:
		return "", failed
	case !turn.answered:
		return "", fmt.Errorf("no answer to initialize (exit code %d): %s", exit.Code, p.Stderr())
	}
	return version, nil
}
