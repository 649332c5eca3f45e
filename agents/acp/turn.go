package acp

import (
	"context"
	"slices"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"

	acp "github.com/coder/acp-go-sdk"
)

func newPeer(ctx context.Context, c *cli.Conversation, q quirks) *peer {
	t := &peer{
		Conversation: c, link: newConnection(ctx), quirks: q, session: "", model: q.model,
		tools: map[string]*toolCall{}, over: map[string]bool{}, open: map[string]openRequest{},
	}
	c.Peer = t
	return t
}

// close releases the connection when the process has ended.
func (a *peer) close() {
	a.flush()
	a.link.close()
	if a.leaving != nil {
		<-a.leaving
	}
}

func (a *peer) Hello() {
	if a.quirks.unserved != "" && len(a.Turn.MCP) > 0 {
		a.Emit(agents.KindSystemMessage, agents.Message{Text: a.quirks.unserved})
	}
	a.call(acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "sandboxrun", Version: "1"},
	})
}

// Line handles one line of the CLI's output.
func (a *peer) Line(ctx context.Context, text []byte) {
	m, ok := a.link.read(text)
	switch {
	case !ok:
		a.EmitUnknown(text)
		if a.link.dead() {
			a.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeFailed, Message: "the agent's messages cannot be read"})
		}
	case m.answers:
		a.answered(ctx, m, text)
	case m.request:
		a.requested(ctx, m, text)
	default:
		a.notified(m, text)
	}
}

// requested handles a request of the CLI. Every request gets an answer.
func (a *peer) requested(ctx context.Context, m agentMessage, text []byte) {
	if m.method == acp.ClientMethodSessionRequestPermission {
		a.permission(ctx, m, text)
		return
	}
	if !slices.Contains(a.quirks.noise, m.method) {
		a.EmitUnknown(text) // files, terminals: nothing of it was offered
	}
	a.write(a.link.answer(m, nil, acp.NewMethodNotFound(m.method)))
}

// notified handles a notification of the CLI.
func (a *peer) notified(m agentMessage, text []byte) {
	if a.quirks.guard != "" && m.method == a.quirks.guard {
		a.guarded = true
		return
	}
	if m.method != acp.ClientMethodSessionUpdate {
		if !slices.Contains(a.quirks.noise, m.method) {
			a.EmitUnknown(text)
		}
		return
	}
	var n updateNotification
	var u sessionUpdate
	if cli.Decode(m.params, &n) != nil || cli.Decode(n.Update, &u) != nil {
		a.EmitUnknown(text)
		return
	}
	switch {
	case a.silent(u.Type) && (a.phase == phaseOpening || n.SessionID == a.session):
		if a.phase == phaseReplaying && u.Type == a.quirks.loaded {
			a.set()
		}
	case n.SessionID == "" || n.SessionID != a.session:
		a.EmitUnknown(text)
	case a.phase == phaseReplaying, a.phase == phaseOpening:
		// The conversation so far, which the events of its turns hold.
	default:
		a.update(u, text)
	}
}

// silent says that updates of a kind mean nothing here.
func (a *peer) silent(kind string) bool {
	switch kind {
	case "available_commands_update", "config_option_update", "current_mode_update", "session_info_update":
		return true
	}
	return slices.Contains(a.quirks.noise, kind)
}

// Interrupt cancels the prompt. Before there is one, the end of the input says it all.
func (a *peer) Interrupt() {
	if a.phase != phasePrompting {
		a.CloseInput()
		return
	}
	a.write(a.link.notify(acp.AgentMethodSessionCancel, acp.CancelNotification{SessionId: acp.SessionId(a.session)}))
}

// Patience bounds the wait for the end of a replay.
func (a *peer) Patience() (time.Duration, bool) { return replayGrace, a.phase == phaseReplaying }

func (a *peer) Overdue() {
	a.fail(turnFault{issue: agents.CodeFailed, message: "the agent did not finish telling the conversation so far"})
}
