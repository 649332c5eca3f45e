package agents

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// acpTurn is one turn of a CLI that speaks ACP.
type acpTurn struct {
	*conversation
	link      *acpLink
	quirks    acpQuirks
	probing   bool
	terminate func() // tells a process that stays to leave; nil for none
	leaving   chan struct{}

	phase    acpPhase
	session  string
	model    string
	version  string
	planning string // the session's mode for planning

	run    acpRun              // the message that is being said
	tools  map[string]*acpTool // calls without a result
	over   map[string]bool     // calls with one; true for those that were denied
	open   map[string]acpOpen  // permission requests, by id
	prompt acpPrompt
	repeat int // prompts repeated after a broken connection
	denied int // prompts made because a denial ended the one before

	total Usage
	fault *acpFault // why the turn failed
	clean bool      // the protocol's own end, without an error

}

// acpPhase is where the exchange stands; the doc comment of acpAgent draws them.
type acpPhase int

const (
	acpHello acpPhase = iota
	acpOpening
	acpReplaying
	acpSetting
	acpPrompting
	acpOver
)

// acpPrompt is what is known of one session/prompt.
type acpPrompt struct {
	claim   string
	failure string   // the CLI's own word that the model failed, while nothing followed
	refused []string // reasons of denials after which the model said nothing
	usage   Usage    // summed from what the model's messages carry
}

func newACPTurn(ctx context.Context, c *conversation, q acpQuirks) *acpTurn {
	t := &acpTurn{
		conversation: c, link: newACPLink(ctx), quirks: q, session: "", model: q.model,
		tools: map[string]*acpTool{}, over: map[string]bool{}, open: map[string]acpOpen{},
	}
	c.peer = t
	return t
}

// close lets go of the connection when the process has ended.
func (a *acpTurn) close() {
	a.flush()
	a.link.close()
	if a.leaving != nil {
		<-a.leaving
	}
}

func (a *acpTurn) hello() {
	if a.quirks.unserved != "" && len(a.turn.MCP) > 0 {
		a.emit(KindSystemMessage, Message{Text: a.quirks.unserved})
	}
	a.call(acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "sandboxrun", Version: "1"},
	})
}

// line handles one line of the CLI's output.
func (a *acpTurn) line(ctx context.Context, text []byte) {
	m, ok := a.link.read(text)
	switch {
	case !ok:
		a.strange(text)
		if a.link.dead() {
			a.stop(stop{end: EndFailed, code: codeFailed, message: "the agent's messages cannot be read"})
		}
	case m.answers:
		a.answered(m, text)
	case m.request:
		a.requested(ctx, m, text)
	default:
		a.notified(m, text)
	}
}

// requested handles a request of the CLI. Every request gets an answer.
func (a *acpTurn) requested(ctx context.Context, m acpMessage, text []byte) {
	if m.method == acp.ClientMethodSessionRequestPermission {
		a.permission(ctx, m, text)
		return
	}
	if !slices.Contains(a.quirks.noise, m.method) {
		a.strange(text) // files, terminals: nothing of it was offered
	}
	a.write(a.link.answer(m, nil, acp.NewMethodNotFound(m.method)))
}

// notified handles a notification of the CLI.
func (a *acpTurn) notified(m acpMessage, text []byte) {
	if m.method != acp.ClientMethodSessionUpdate {
		if !slices.Contains(a.quirks.noise, m.method) {
			a.strange(text)
		}
		return
	}
	var n acpNotification
	var u acpUpdate
	if decode(m.params, &n) != nil || decode(n.Update, &u) != nil {
		a.strange(text)
		return
	}
	switch {
	case a.silent(u.Type) && (a.phase == acpOpening || n.SessionID == a.session):
		if a.phase == acpReplaying && u.Type == a.quirks.loaded {
			a.set()
		}
	case n.SessionID == "" || n.SessionID != a.session:
		a.strange(text)
	case a.phase == acpReplaying, a.phase == acpOpening:
		// The conversation so far, which the events of its turns hold.
	default:
		a.update(u, text)
	}
}

// silent says that updates of a kind mean nothing here.
func (a *acpTurn) silent(kind string) bool {
	switch kind {
	case "available_commands_update", "config_option_update", "current_mode_update", "session_info_update":
		return true
	}
	return slices.Contains(a.quirks.noise, kind)
}

// call makes a request, which answered gets the answer to.
func (a *acpTurn) call(method string, params any) { a.write(a.link.request(method, params)) }

// write sends what the connection made of a message.
func (a *acpTurn) write(message json.RawMessage) {
	if message == nil {
		a.stop(stop{end: EndFailed, code: codeFailed, message: "a message for the agent cannot be written"})
		return
	}
	a.send(message)
}

// interrupt cancels the prompt. Before there is one, the end of the input says it all.
func (a *acpTurn) interrupt() {
	if a.phase != acpPrompting {
		a.closeInput()
		return
	}
	a.write(a.link.notify(acp.AgentMethodSessionCancel, acp.CancelNotification{SessionId: acp.SessionId(a.session)}))
}

// patience bounds the wait for the end of a replay.
func (a *acpTurn) patience() (time.Duration, bool) { return acpReplay, a.phase == acpReplaying }

func (a *acpTurn) overdue() {
	a.fail(acpFault{issue: codeFailed, message: "the agent did not finish telling the conversation so far"})
}

// fail ends a turn that cannot go on, or did not go well.
func (a *acpTurn) fail(f acpFault) {
	if a.fault == nil {
		a.fault = &f
	}
	a.end()
}

// end closes the exchange.
func (a *acpTurn) end() {
	a.flush()
	a.phase = acpOver
	a.finish()
	if a.terminate != nil && a.leaving == nil {
		a.leaving = make(chan struct{})
		go func() {
			defer close(a.leaving)
			a.terminate()
		}()
	}
}
