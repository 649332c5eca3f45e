package pi

import (
	"fmt"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// Commands of ours; each is sent once in a turn.
const (
	callState  = "state"
	callPrompt = "prompt"
	callAbort  = "abort"
)

// peer is one turn of Pi.
type peer struct {
	*cli.Conversation
	probing bool   // end once the session is there
	guarded bool   // the guard has said that it is there
	ready   bool   // and so is the session, as it was asked for
	version string // by the guard
	session string
	model   string

	partial string // words of an answer that never arrived as a whole
	end     ending
}

func newPeer(c *cli.Conversation) *peer {
	t := &peer{Conversation: c}
	if c.Turn.Resume {
		t.session = c.Turn.SessionID
	}
	c.Peer = t
	return t
}

// Hello asks for the session. It is answered once extensions are loaded and the
// servers of the turn are connected or given up on.
func (c *peer) Hello() { c.Send(command{ID: callState, Type: "get_state"}) }

// response handles an answer to a command of ours.
func (c *peer) response(f frame, text []byte) {
	done := f.Success != nil && *f.Success
	switch {
	case f.ID == callState && !c.ready && done:
		c.opened(f)
	case f.ID == callState && !c.ready:
		c.fail("the agent did not tell of its session: " + f.Error)
	case f.ID == callPrompt && done, f.ID == callAbort && done:
		// An acknowledgement only: agent_settled ends the turn.
	case f.ID == callPrompt:
		c.fail("the agent refused to take the prompt: " + f.Error)
	case f.ID == callAbort:
		c.Finish() // there is nothing to abort
	default:
		c.EmitUnknown(text)
	}
}

// opened judges the session the CLI has opened, and prompts.
func (c *peer) opened(f frame) {
	var s struct {
		SessionID string `json:"sessionId"`
		Messages  int    `json:"messageCount"`
		Model     struct {
			ID string `json:"id"`
		} `json:"model"`
	}
	err := cli.Decode(f.Data, &s)
	switch {
	case err != nil || !validID(s.SessionID):
		c.fail("the agent named no session")
		return
	case !c.guarded:
		c.fail("the extension that makes the agent ask is not there")
		return
	case c.Turn.SessionID != "" && s.SessionID != c.Turn.SessionID:
		c.fail(fmt.Sprintf("the agent's session is %q and not %q", cli.Head(s.SessionID, maxID), c.Turn.SessionID))
		return
	case c.Turn.Resume && s.Messages == 0:
		c.fail("the conversation to go on with is not there")
		return
	}
	c.session, c.model, c.ready = s.SessionID, cli.Head(s.Model.ID, maxID), true
	if c.probing {
		c.Finish()
		return
	}
	c.Emit(agents.KindSystemMessage, agents.Message{Text: fmt.Sprintf("Pi %s, model %s", c.version, c.model)})
	c.Send(command{ID: callPrompt, Type: "prompt", Message: c.Turn.Prompt})
}

// Interrupt asks the CLI to end the turn.
func (c *peer) Interrupt() {
	if !c.ready {
		c.CloseInput() // there is nothing to abort yet
		return
	}
	c.Send(command{ID: callAbort, Type: "abort"})
}

// Patience grants the servers of the turn their time to connect.
func (c *peer) Patience() (time.Duration, bool) {
	if c.guarded || len(c.Turn.MCP) == 0 {
		return 0, false
	}
	return c.Turn.IdleLimit() + cli.ServerLimit, true
}

// Overdue ends a turn whose CLI did not start.
func (c *peer) Overdue() {
	c.Stop(cli.StopReason{End: agents.EndInterrupted, Code: agents.CodeNoResult, Message: "the agent did not start"})
}
