package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/sandbox"
)

func init() { Register(opencode{}) }

// opencode drives Opencode's server, which runs in the box, over HTTP and its
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
type opencode struct{}

// Info implements Agent. The version of the package is written here only.
func (opencode) Info() Info {
	return Info{
		Name:     "opencode",
		Executor: "OPENCODE",
		Title:    "Opencode",
		Package:  "opencode-ai",
		Version:  "1.18.33",
		Binary:   "opencode",
		// Opencode is one native binary; the package around it is not kept.
		Install:   Install{Script: `install -D -m 0755 "$(readlink -f "$PREFIX/bin/opencode")" "$OUT/usr/local/bin/opencode"`},
		Providers: []string{"anthropic", "openai", "google"},
		Wires:     []Wire{WireAnthropicMessages, WireOpenAIResponses, WireOpenAIChat, WireGoogleGenerate},
		Secrets:   []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"},
		MCPPath:   ".config/opencode/opencode.json",
		MCPKey:    "mcp",
		Setup:     "put an API key of Anthropic, OpenAI or Google into ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; its repositories' own plugins run in the box",
		Logins:    []string{".local/share/opencode/auth.json"},
		Traces:    []string{".local/share/opencode", ".config/opencode"},
		Keep: []string{
			".local/share/opencode/opencode.db", ".local/share/opencode/opencode.db-wal", ".local/share/opencode/opencode.db-shm",
		},
		Options: []Option{
			{Name: "auto_approve", Type: OptionBool, Help: "let the agent use its tools without asking"},
			{Name: "mode", Type: OptionString, Values: []string{opencodeBuild, opencodePlan}, Help: "the agent of Opencode that works: build, or plan, which edits nothing"},
		},
	}
}

// errNoDial says that there is no way to the server in the box.
var errNoDial = errors.New("nothing connects to the box's loopback, where opencode serves")

// Run implements Agent. The server says nothing while a command of its own is
// quiet; its heartbeat counts as a sign of life then, and only then.
func (o opencode) Run(ctx context.Context, box sandbox.Sandbox, t Turn, h Host) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{End: EndInterrupted, Code: codeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	s, err := newOpencodeSetup(t)
	if err != nil {
		return Outcome{End: EndInterrupted, Code: codeNoResult, Message: err.Error()}, fmt.Errorf("run opencode: %w", err)
	}
	p := startProcess(ctx, box, opencodeArgv(o.Info().Binary, t), opencodeEnv(t, s))
	turn := newOpencodeTurn(ctx, newConversation(p, t, h), s)
	turn.drive(ctx)
	turn.close()
	exit, err := p.wait()
	return turn.outcome(exit, err, p.stderr.String()), turn.failure(o.Info().Binary, err)
}

// probeLimit is how long a server may take until it answers; it starts within
// 10 s on a busy machine.
const probeLimit = time.Minute

// Probe implements Prober.
func (o opencode) Probe(ctx context.Context, box sandbox.Sandbox, t Turn) (version string, err error) {
	s, err := newOpencodeSetup(t)
	if err != nil {
		return "", fmt.Errorf("probe opencode: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, probeLimit, errors.New("opencode did not answer in time"))
	defer cancel()
	p := startProcess(ctx, box, opencodeArgv(o.Info().Binary, t), opencodeEnv(t, s))
	stop := context.AfterFunc(ctx, func() { p.kill(context.Cause(ctx)) })
	asked := false
	for l := range p.lines {
		port, ok := opencodePort(l.text)
		if !ok || asked {
			continue
		}
		asked = true
		server := newOpencodeServer(t.Dial, port, s.password)
		version, err = server.version(ctx)
		server.close()
		p.closeInput()
	}
	if !asked {
		p.closeInput()
	}
	stop()
	switch _, lost := p.wait(); {
	case lost != nil:
		return "", fmt.Errorf("probe opencode: %w", lost)
	case err != nil:
		return "", fmt.Errorf("probe opencode: %w", err)
	case !asked:
		return "", fmt.Errorf("probe opencode: it did not start to serve: %s", p.stderr.String())
	}
	return version, nil
}
