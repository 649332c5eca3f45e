package droid

import (
	"fmt"
	"strings"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// Requests of ours; each is sent once in a turn, but for the prompt.
const (
	callOpen      = "open"
	callSettings  = "settings"
	callPrompt    = "prompt"
	callInterrupt = "interrupt"
)

// peer is one turn of Droid.
type peer struct {
	*cli.Conversation
	probing  bool // end once the session is there
	ready    bool // it is there, as it was asked for
	version  string
	session  string
	autonomy string

	text     map[string]*messagePart // messages that have not arrived as a whole, by id
	part     int                     // bytes in them
	begun    map[string]bool         // ids of all calls
	pending  map[string]callMethod   // calls that were announced and are in no message yet
	approved map[string]bool         // calls the host has allowed, by id
	asking   map[string]*openRequest
	plan     string // id of the call that hands over the plan of a turn that only plans

	denials  []toldDenial
	told     int // how often the model was told of denials
	children map[string]bool
	held     bool // the turn has ended but for its subagents

	retries   int
	retryBy   time.Time // when the provider is given up on; zero while it answers
	retryWord string
	end       ending
}

func newPeer(c *cli.Conversation) *peer {
	t := &peer{
		Conversation: c, autonomy: autonomyOf(c.Turn),
		text: map[string]*messagePart{}, begun: map[string]bool{}, pending: map[string]callMethod{}, approved: map[string]bool{},
		asking: map[string]*openRequest{}, children: map[string]bool{},
	}
	if c.Turn.Resume {
		t.session = c.Turn.SessionID
	}
	c.Peer = t
	return t
}

func (c *peer) Hello() {
	if c.Turn.Resume {
		c.Send(newRequest(callOpen, "droid.load_session", map[string]any{
			"sessionId": c.Turn.SessionID, "messageLimit": 1, "disableBuiltinSkills": true,
		}))
		return
	}
	params := map[string]any{
		"machineId": "sandboxrun", "cwd": sandbox.WorkDir, "modelId": modelID,
		"interactionMode": modeOf(c.Turn), "autonomyLevel": c.autonomy,
		// A session with a title needs no model to think of one.
		"title": "sandboxrun", "disableBuiltinSkills": true, "blockOnMcpLoad": len(c.Turn.MCP) > 0,
	}
	if c.Turn.SessionID != "" {
		params["sessionId"] = c.Turn.SessionID
	}
	c.Send(newRequest(callOpen, "droid.initialize_session", params))
}

// response handles an answer to a request of ours.
func (c *peer) response(f frame, text []byte) {
	switch {
	case f.ID == callOpen && !c.ready && f.Error == nil:
		c.opened(f, text)
	case f.ID == callSettings && !c.ready && f.Error == nil:
		c.begin()
	case f.ID == callPrompt && f.Error == nil:
		// An acknowledgement only: the turn is under way when it says so.
	case f.ID == callInterrupt:
		if f.Error != nil {
			c.Finish() // there is nothing to interrupt
		}
	case (f.ID == callOpen || f.ID == callSettings || f.ID == callPrompt) && f.Error != nil:
		c.fail(fmt.Sprintf("the agent refused to %s: %s", map[string]string{
			callOpen: "open the session", callSettings: "take the session's settings", callPrompt: "take the prompt",
		}[f.ID], f.Error.Message))
	default:
		c.EmitUnknown(text)
	}
}

// opened handles the session the CLI has opened.
func (c *peer) opened(f frame, text []byte) {
	var r struct {
		SessionID string `json:"sessionId"` // of a new one only
		Settings  struct {
			Autonomy string `json:"autonomyLevel"`
		} `json:"settings"`
	}
	if err := cli.Decode(f.Result, &r); err != nil {
		c.EmitUnknown(text)
		c.fail("the agent's answer to the opening of the session cannot be read")
		return
	}
	if c.Turn.Resume {
		// What the session remembers of the turn before is not this turn's.
		c.Send(newRequest(callSettings, "droid.update_session_settings", map[string]any{
			"modelId": modelID, "interactionMode": modeOf(c.Turn), "autonomyLevel": c.autonomy,
		}))
		return
	}
	if !validID(r.SessionID) {
		c.fail("the agent named no session")
		return
	}
	c.session = r.SessionID
	if r.Settings.Autonomy != c.autonomy {
		c.fail(fmt.Sprintf("the agent's autonomy is %q and not %q", r.Settings.Autonomy, c.autonomy))
		return
	}
	c.begin()
}

// begin sends the prompt to a session that is as it was asked for.
func (c *peer) begin() {
	c.ready = true
	if c.probing {
		c.Finish()
		return
	}
	c.Emit(agents.KindSystemMessage, agents.Message{Text: fmt.Sprintf("Droid %s, model %s", c.version, modelOf(c.Turn).Model)})
	c.prompt(c.Turn.Prompt)
}

func (c *peer) prompt(text string) {
	c.Send(newRequest(callPrompt, "droid.add_user_message", map[string]any{"text": text}))
}

func (c *peer) Interrupt() {
	if !c.ready {
		c.CloseInput() // there is no session to interrupt yet
		return
	}
	c.Send(newRequest(callInterrupt, "droid.interrupt_session", map[string]any{}))
}

// Patience is short where nothing is left that could wake the model, and
// bounded while the provider fails.
func (c *peer) Patience() (time.Duration, bool) {
	switch {
	case c.held && len(c.children) == 0:
		return cli.LingerGrace, true
	case !c.retryBy.IsZero():
		return time.Until(c.retryBy), true
	}
	return 0, false
}

func (c *peer) Overdue() {
	if c.held {
		c.Finish()
		return
	}
	c.giveUp()
}

// openRequest is one request of the CLI that waits for decisions: about one
// call or several, which are allowed together or not at all, or for answers.
type openRequest struct {
	id        string
	calls     []string // ids
	keys      []string // of the open requests to the host
	questions []userQuestion
}

// toldDenial is a denial the model has not heard of.
type toldDenial struct {
	action  agents.Action
	command string
	reason  string
}

// ending collects how a turn ends.
type ending struct {
	reason string // of the last agent_turn_completed
	failed string // why the turn ends without one
	said   string // the last error the CLI reported
	claim  string // the model's last words
	turns  int    // answers of the model
	total  agents.Usage
}

// fail ends a turn that cannot be taken.
func (c *peer) fail(message string) {
	if c.end.failed == "" {
		c.end.failed = message
	}
	c.Finish()
}

// messagePart is the text of a message so far.
type messagePart struct {
	order int
	text  strings.Builder
}

// giveUp ends a turn whose provider fails for good.
func (c *peer) giveUp() {
	code := agents.CodeFailed
	if c.retryWord == "rate_limited" {
		code = agents.CodeQuota
	}
	c.Stop(cli.StopReason{End: agents.EndFailed, Code: code,
		Message: fmt.Sprintf("the provider failed %d times (%s)", c.retries, strings.ReplaceAll(cli.Head(c.retryWord, maxID), "_", " "))})
}

// userQuestion is one question of the model.
type userQuestion struct {
	Index    int      `json:"index"`
	Topic    string   `json:"topic"`
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Multiple bool     `json:"multiSelect"`
}
