package agents

import "time"

// claudeTurn is one turn of Claude Code.
type claudeTurn struct {
	*conversation
	end     claudeEnd
	held    bool // the last result is not the end yet
	tasks   int  // background tasks that run
	wake    bool // one of them ended and will wake the model
	began   bool // init was seen
	model   string
	version string
	session string
}

func newClaudeTurn(c *conversation) *claudeTurn {
	t := &claudeTurn{conversation: c, session: c.turn.SessionID}
	c.peer = t
	return t
}

func (c *claudeTurn) hello() {
	c.send(claudeInitialize())
	c.send(claudePrompt(c.turn.Prompt))
}

func (c *claudeTurn) interrupt() { c.send(claudeInterrupt()) }

// patience is short where nothing is left that could wake the model.
func (c *claudeTurn) patience() (time.Duration, bool) {
	return lingerGrace, c.held && c.tasks == 0 && c.calls.count() == 0
}

// overdue ends a turn that nothing woke after all.
func (c *claudeTurn) overdue() { c.finish() }
