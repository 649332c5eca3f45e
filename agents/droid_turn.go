package agents

import (
	"fmt"
	"time"

	"sandboxrun/sandbox"
)

// Requests of ours; each is sent once in a turn, but for the prompt.
const (
	droidOpening   = "open"
	droidSetting   = "settings"
	droidPrompting = "prompt"
	droidStopping  = "interrupt"
)

// droidTurn is one turn of Droid.
type droidTurn struct {
	*conversation
	probing  bool // end once the session is there
	ready    bool // it is there, as it was asked for
	version  string
	session  string
	autonomy string

	text     map[string]*droidPart // messages that have not arrived as a whole, by id
	part     int                   // bytes in them
	begun    map[string]bool       // ids of all calls
	pending  map[string]droidCall  // calls that were announced and are in no message yet
	approved map[string]bool       // calls the host has allowed, by id
	printed  map[string]string     // what a command has printed so far, by call
	asking   map[string]*droidAsking
	plan     string // id of the call that hands over the plan of a turn that only plans

	denials  []droidDenial
	told     int // how often the model was told of denials
	children map[string]bool
	held     bool // the turn has ended but for its subagents

	retries   int
	retryBy   time.Time // when the provider is given up on; zero while it answers
	retryWord string
	end       droidEnd
}

func newDroidTurn(c *conversation) *droidTurn {
	t := &droidTurn{
		conversation: c, autonomy: droidAutonomy(c.turn),
		text: map[string]*droidPart{}, begun: map[string]bool{}, pending: map[string]droidCall{}, approved: map[string]bool{},
		printed: map[string]string{}, asking: map[string]*droidAsking{}, children: map[string]bool{},
	}
	if c.turn.Resume {
		t.session = c.turn.SessionID
	}
	c.peer = t
	return t
}

func (c *droidTurn) hello() {
	if c.turn.Resume {
		c.send(droidRequest(droidOpening, "droid.load_session", map[string]any{
			"sessionId": c.turn.SessionID, "messageLimit": 1, "disableBuiltinSkills": true,
		}))
		return
	}
	params := map[string]any{
		"machineId": "sandboxrun", "cwd": sandbox.WorkDir, "modelId": droidModelID,
		"interactionMode": droidMode(c.turn), "autonomyLevel": c.autonomy,
		// A session with a title needs no model to think of one.
		"title": "sandboxrun", "disableBuiltinSkills": true, "blockOnMcpLoad": len(c.turn.MCP) > 0,
	}
	if c.turn.SessionID != "" {
		params["sessionId"] = c.turn.SessionID
	}
	c.send(droidRequest(droidOpening, "droid.initialize_session", params))
}

// response handles an answer to a request of ours.
func (c *droidTurn) response(f droidFrame, text []byte) {
	switch {
	case f.ID == droidOpening && !c.ready && f.Error == nil:
		c.opened(f, text)
	case f.ID == droidSetting && !c.ready && f.Error == nil:
		c.begin()
	case f.ID == droidPrompting && f.Error == nil:
		// An acknowledgement only: the turn is under way when it says so.
	case f.ID == droidStopping:
		if f.Error != nil {
			c.finish() // there is nothing to interrupt
		}
	case (f.ID == droidOpening || f.ID == droidSetting || f.ID == droidPrompting) && f.Error != nil:
		c.fail(fmt.Sprintf("the agent refused to %s: %s", map[string]string{
			droidOpening: "open the session", droidSetting: "take the session's settings", droidPrompting: "take the prompt",
		}[f.ID], f.Error.Message))
	default:
		c.strange(text)
	}
}

// opened handles the session the CLI has opened.
func (c *droidTurn) opened(f droidFrame, text []byte) {
	var r struct {
		SessionID string `json:"sessionId"` // of a new one only
		Settings  struct {
			Autonomy string `json:"autonomyLevel"`
		} `json:"settings"`
	}
	if err := decode(f.Result, &r); err != nil {
		c.strange(text)
		c.fail("the agent's answer to the opening of the session cannot be read")
		return
	}
	if c.turn.Resume {
		// What the session remembers of the turn before is not this turn's.
		c.send(droidRequest(droidSetting, "droid.update_session_settings", map[string]any{
			"modelId": droidModelID, "interactionMode": droidMode(c.turn), "autonomyLevel": c.autonomy,
		}))
		return
	}
	if !droidNamed(r.SessionID) {
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
func (c *droidTurn) begin() {
	c.ready = true
	if c.probing {
		c.finish()
		return
	}
	c.emit(KindSystemMessage, Message{Text: fmt.Sprintf("Droid %s, model %s", c.version, droidModelOf(c.turn).Model)})
	c.prompt(c.turn.Prompt)
}

func (c *droidTurn) prompt(text string) {
	c.send(droidRequest(droidPrompting, "droid.add_user_message", map[string]any{"text": text}))
}

func (c *droidTurn) interrupt() {
	if !c.ready {
		c.closeInput() // there is no session to interrupt yet
		return
	}
	c.send(droidRequest(droidStopping, "droid.interrupt_session", map[string]any{}))
}

// patience is short where nothing is left that could wake the model, and
// bounded while the provider fails.
func (c *droidTurn) patience() (time.Duration, bool) {
	switch {
	case c.held && len(c.children) == 0:
		return lingerGrace, true
	case !c.retryBy.IsZero():
		return time.Until(c.retryBy), true
	}
	return 0, false
}

func (c *droidTurn) overdue() {
	if c.held {
		c.finish()
		return
	}
	c.giveUp()
}
