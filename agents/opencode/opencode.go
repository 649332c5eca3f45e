// Package opencode drives Opencode through the server it runs in the box.
package opencode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

func init() { agents.Register(agent{bounds: defaultBounds}) }

// agent drives Opencode's server, which runs in the box, over HTTP and its
// stream of events, as a peer of conversation. Standard input of the box's
// process only says that the turn goes on: when it ends, the server and what
// shares its process group are killed.
//
// A turn begins when the server prints its port. Then, in this order: its
// version, the stream of events, the session (made, or looked up), the prompt.
// It ends with session.idle of that session, once the session was busy or had an
// error. The end is clean when the session has no error left, the last message
// of the model ended by itself (not cut at a length, not waiting for a tool), and
// we never stopped it. An error is forgotten when the model speaks again, as
// after a compaction. An error of a session that never became busy has no idle
// after it: it ends the turn after lingerGrace. The exit code says nothing, as
// the server is always killed.
//
// Opencode repeats a failed request five times; the turn is stopped before that
// when the waits grow long, and at once when the provider refuses the key.
//
// Of a repository, only AGENTS.md is meant to reach the agent. Its plugins below
// .opencode run inside the server all the same, from the first prompt on:
// nothing switches that off in this version. They can do what the server can,
// answering its own approvals included, as can a command that was allowed: the
// server's password is in its environment. A turn is stopped when an approval
// was given by someone else, but what holds is the box: it has a placeholder
// instead of a key, no network, and its tree is judged afterwards.
//
// Events, settings and failure modes were observed with the pinned version.
type agent struct{ bounds bounds }

// bounds are the waits of a turn that end by the clock.
type bounds struct {
	// call is how long a request may wait for its call to be reported, and a denial
	// for the calls next to it: long enough for a busy machine, since what was
	// allowed is lost otherwise.
	call time.Duration
	// begin is how long a session with an error may stay without beginning.
	begin time.Duration
}

var defaultBounds = bounds{call: 10 * time.Second, begin: cli.LingerGrace}

// Info implements Agent. The version of the package is written here only.
func (agent) Info() agents.Info {
	return agents.Info{
		Name:     "opencode",
		Executor: "OPENCODE",
		Title:    "Opencode",
		Package:  "opencode-ai",
		Version:  "1.18.33",
		Binary:   "opencode",
		// Opencode is one native binary; the package around it is not kept.
		Install:   agents.Install{Script: `install -D -m 0755 "$(readlink -f "$PREFIX/bin/opencode")" "$OUT/usr/local/bin/opencode"`},
		Providers: []string{"anthropic", "openai", "google"},
		Wires:     []wire.Wire{wire.AnthropicMessages, wire.OpenAIResponses, wire.OpenAIChat, wire.GoogleGenerate},
		Secrets:   []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"},
		MCPPath:   ".config/opencode/opencode.json",
		MCPKey:    "mcp",
		Setup:     "put an API key of Anthropic, OpenAI or Google into ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; its repositories' own plugins run in the box",
		Protocol:  "`serve`: HTTP and server-sent events inside the box",
		Limits: []string{
			"loads plugins from the repository, and nothing switches that off. The box, which holds no key and has no network, is the boundary there.",
		},
		EnvPrefixes: []string{"OPENCODE_"},
		Obeys:       []string{"AGENTS.md", "opencode.json", "opencode.jsonc", ".opencode/"},
		Logins:      []string{".local/share/opencode/auth.json"},
		Traces:      []string{".local/share/opencode", ".config/opencode"},
		Keep: []string{
			".local/share/opencode/opencode.db", ".local/share/opencode/opencode.db-wal", ".local/share/opencode/opencode.db-shm",
		},
		Options: []agents.Option{
			{Name: "auto_approve", Type: agents.OptionBool, Help: "let the agent use its tools without asking"},
			{Name: "mode", Type: agents.OptionString, Values: []string{modeBuild, modePlan}, Help: "the agent of Opencode that works: build, or plan, which edits nothing"},
		},
	}
}

// errNoDial says that there is no way to the server in the box.
var errNoDial = errors.New("nothing connects to the box's loopback, where opencode serves")

// Run implements Agent. The server says nothing while a command of its own is
// quiet; its heartbeat counts as a sign of life then, and only then.
func (o agent) Run(ctx context.Context, box sandbox.Sandbox, t agents.Turn, h agents.Host) (agents.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	s, err := newServerSetup(t)
	if err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, Message: err.Error()}, fmt.Errorf("run opencode: %w", err)
	}
	p := cli.Start(ctx, box, commandLine(o.Info().Binary, t), environment(t, s))
	turn := newPeer(ctx, cli.NewConversation(p, t, h), s)
	turn.bounds = o.bounds
	turn.Drive(ctx)
	turn.close()
	exit, err := p.Wait()
	return turn.outcome(exit, err, p.Stderr()), turn.Err(o.Info().Binary, err)
}

// probeLimit is how long a server may take until it answers; it starts within
// 10 s on a busy machine.
const probeLimit = time.Minute

// Probe implements Prober.
func (o agent) Probe(ctx context.Context, box sandbox.Sandbox, t agents.Turn) (version string, err error) {
	s, err := newServerSetup(t)
	if err != nil {
		return "", fmt.Errorf("probe opencode: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, probeLimit, errors.New("opencode did not answer in time"))
	defer cancel()
	p := cli.Start(ctx, box, commandLine(o.Info().Binary, t), environment(t, s))
	stop := context.AfterFunc(ctx, func() { p.Kill(context.Cause(ctx)) })
	asked := false
	for l := range p.Lines {
		port, ok := portOf(l.Text)
		if !ok || asked {
			continue
		}
		asked = true
		server := newBoxServer(t.Dial, port, s.password)
		version, err = server.version(ctx)
		server.close()
		p.CloseInput()
	}
	if !asked {
		p.CloseInput()
	}
	stop()
	switch _, lost := p.Wait(); {
	case lost != nil:
		return "", fmt.Errorf("probe opencode: %w", lost)
	case err != nil:
		return "", fmt.Errorf("probe opencode: %w", err)
	case !asked:
		return "", fmt.Errorf("probe opencode: it did not start to serve: %s", p.Stderr())
	}
	return version, nil
}
