package acp

import (
	"encoding/json"
	"strings"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

const (
	// maxMessage is where one message is cut into two, in bytes.
	maxMessage = 1 << 20
	// maxPlan bounds the entries of a plan that are shown.
	maxPlan = 200
)

// Bounds of a turn.
const (
	// maxRepeats bounds how often a prompt is repeated after a broken connection.
	maxRepeats = 2
	// maxDenials bounds how often the model is told to go on after a denial.
	maxDenials = 8
	// replayGrace is how long the replay of a session may be silent before its end.
	replayGrace = 20 * time.Second
	// pidFile holds the process id of a CLI that gets a signal to leave.
	pidFile = "/tmp/.sandboxrun-agent.pid"
)

// peer is one turn of a CLI that speaks ACP.
type peer struct {
	*cli.Conversation
	link      *connection
	quirks    quirks
	journal   journal // nil where the protocol says all
	probing   bool
	terminate func() // tells a process that stays to leave; nil for none
	leaving   chan struct{}

	phase    phase
	session  string
	model    string
	version  string
	planning string // the session's mode for planning
	guarded  bool   // the guard has said that it is there

	run    messageRun             // the message that is being said
	tools  map[string]*toolCall   // calls without a result
	over   map[string]bool        // calls with one; true for those that were denied
	open   map[string]openRequest // permission requests, by id
	prompt promptState
	repeat int // prompts repeated after a broken connection
	denied int // prompts made because a denial ended the one before

	total agents.Usage
	fault *turnFault // why the turn failed
	clean bool       // the protocol's own end, without an error
}

// phase is where the exchange stands; the doc comment of agent draws them.
type phase int

const (
	phaseHello phase = iota
	phaseOpening
	phaseReplaying
	phaseSetting
	phasePrompting
	phaseOver
)

// promptState is what is known of one session/prompt.
type promptState struct {
	claim   string
	failure string       // the CLI's own word that the model failed, while nothing followed
	refused []string     // reasons of denials after which the model said nothing
	usage   agents.Usage // summed from what the model's messages carry
}

// openRequest is a permission request without an answer.
type openRequest struct {
	message agentMessage
	allow   acp.PermissionOptionId // "" where there is no such option
	reject  acp.PermissionOptionId
	answers map[string]acp.PermissionOptionId // options that allow, by name, where there are several
}

// toolCall is a tool call, as it becomes known piece by piece.
type toolCall struct {
	update sessionUpdate // the last of every field
	shown  bool          // its event was emitted, with this tool and action:
	tool   string
	action agents.Action
}

// messageRun is a run of chunks that make one message.
type messageRun struct {
	kind agents.Kind
	id   string
	text strings.Builder
}

// call makes a request, which answered gets the answer to.
func (a *peer) call(method string, params any) { a.write(a.link.request(method, params)) }

// write sends what the connection made of a message.
func (a *peer) write(message json.RawMessage) {
	if message == nil {
		a.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeFailed, Message: "a message for the agent cannot be written"})
		return
	}
	a.Send(message)
}

// fail ends a turn that cannot go on, or did not go well.
func (a *peer) fail(f turnFault) {
	if a.fault == nil {
		a.fault = &f
	}
	a.end()
}

// end closes the exchange.
func (a *peer) end() {
	a.flush()
	a.phase = phaseOver
	a.Finish()
	if a.terminate != nil && a.leaving == nil {
		a.leaving = make(chan struct{})
		go func() {
			defer close(a.leaving)
			a.terminate()
		}()
	}
}

// acts notes that the model goes on: what was a failure was not the end.
func (a *peer) acts() { a.prompt.failure = "" }

// flush ends the message that is being said.
func (a *peer) flush() {
	if text := a.run.text.String(); text != "" {
		a.Emit(a.run.kind, agents.Message{Text: text})
		if a.run.kind == agents.KindAssistantMessage {
			a.prompt.claim = text
		}
	}
	a.run = messageRun{}
}

// say adds to a message, or begins the next.
func (a *peer) say(kind agents.Kind, id, text string) {
	if a.run.kind != kind || a.run.id != id || a.run.text.Len()+len(text) > maxMessage {
		a.flush()
	}
	a.run.kind, a.run.id = kind, id
	a.run.text.WriteString(text)
}
