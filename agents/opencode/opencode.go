// Package opencode drives Opencode, and Kilo Code, which is made from it, through
// the server each runs in the box.
package opencode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

func init() {
	agents.Register(agent{program: &opencode, bounds: defaultBounds})
	agents.Register(agent{program: &kilo, bounds: defaultBounds})
}

// agent drives the program's server, which runs in the box, over HTTP and its
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
// The program repeats a failed request five times or more; the turn is stopped before that
// when the waits grow long, and at once when the provider refuses the key.
//
// Of a repository, only AGENTS.md is meant to reach the agent. A command that was
// allowed can do what the server can, answering its own approvals included: the
// server's password is in its environment. A turn is stopped when an approval
// was given by someone else, but what holds is the box: it has a placeholder
// instead of a key, no network, and its tree is judged afterwards.
//
// Events, settings and failure modes were observed with the pinned versions.
type agent struct {
	program *program
	bounds  bounds
}

// Info implements Agent.
func (o agent) Info() agents.Info { return o.program.info }

// Run implements Agent. The server says nothing while a command of its own is
// quiet; its heartbeat counts as a sign of life then, and only then.
func (o agent) Run(ctx context.Context, box sandbox.Sandbox, t agents.Turn, h agents.Host) (agents.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, SessionID: t.SessionID}, context.Cause(ctx)
	}
	s, err := o.program.newServerSetup(t)
	if err != nil {
		return agents.Outcome{End: agents.EndInterrupted, Code: agents.CodeNoResult, Message: err.Error()}, fmt.Errorf("run %s: %w", o.program.info.Binary, err)
	}
	p := cli.Start(ctx, box, commandLine(o.program, t), environment(o.program, t, s))
	turn := newPeer(ctx, o.program, cli.NewConversation(p, t, h), s)
	turn.bounds = o.bounds
	turn.Drive(ctx)
	turn.close()
	exit, err := p.Wait()
	return turn.outcome(exit, err, p.Stderr()), turn.Err(o.program.info.Binary, err)
}

// probeLimit is how long a server may take until it answers: seconds, or a minute
// on a machine with ten times the work it can do.
const probeLimit = 3 * time.Minute

// Probe implements Prober.
func (o agent) Probe(ctx context.Context, box sandbox.Sandbox, t agents.Turn) (version string, err error) {
	s, err := o.program.newServerSetup(t)
	if err != nil {
		return "", fmt.Errorf("probe %s: %w", o.program.info.Binary, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, probeLimit, errors.New("the agent did not answer in time"))
	defer cancel()
	p := cli.Start(ctx, box, commandLine(o.program, t), environment(o.program, t, s))
	stop := context.AfterFunc(ctx, func() { p.Kill(context.Cause(ctx)) })
	asked := false
	for l := range p.Lines {
		port, ok := o.program.portOf(l.Text)
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
		return "", fmt.Errorf("probe %s: %w", o.program.info.Binary, lost)
	case err != nil:
		return "", fmt.Errorf("probe %s: %w", o.program.info.Binary, err)
	case !asked:
		return "", fmt.Errorf("probe %s: it did not start to serve: %s", o.program.info.Binary, p.Stderr())
	}
	return version, nil
}
