package claude

import (
	"context"
	"time"

	"sandboxrun/agents/cli"
)

// peer is one turn of Claude Code.
type peer struct {
	*cli.Conversation
	end     ending
	held    bool // the last result is not the end yet
	tasks   int  // background tasks that run
	wake    bool // one of them ended and will wake the model
	began   bool // init was seen
	model   string
	version string
	session string
}

func newPeer(c *cli.Conversation) *peer {
	t := &peer{Conversation: c, session: c.Turn.SessionID}
	c.Peer = t
	return t
}

func (c *peer) Hello() {
	c.Send(initializeRequest())
	c.Send(promptMessage(c.Turn.Prompt))
}

func (c *peer) Interrupt() { c.Send(interruptRequest()) }

// Patience is short where nothing is left that could wake the model.
func (c *peer) Patience() (time.Duration, bool) {
	return cli.LingerGrace, c.held && c.tasks == 0 && c.Calls.Count() == 0
}

// Overdue ends a turn that nothing woke after all.
func (c *peer) Overdue() { c.Finish() }

// probe is a turn that ends after the handshake.
type probe struct {
	*peer
	answered bool
}

func (c *probe) Hello() { c.Send(initializeRequest()) }

func (c *probe) Line(_ context.Context, text []byte) {
	var f frame
	if cli.Decode(text, &f) != nil || f.Type != "control_response" {
		return
	}
	var r struct {
		Subtype string `json:"subtype"`
	}
	c.answered = cli.Decode(f.Response, &r) == nil && r.Subtype == "success"
	c.Finish()
}
