package agents

import (
	"time"

	"sandboxrun/sandbox"
)

// codexTurn is one turn of Codex.
type codexTurn struct {
	*conversation
	probing bool // only the handshake
	thread  string
	turnID  string
	model   string
	version string
	held    bool                    // the turn is over, commands still run
	cleaned bool                    // those were told to end
	steers  uint64                  // requests of codexSteer made
	reasons map[string]string       // why an open call was denied
	mcp     map[string]string       // tool of an MCP server → its last call
	parents map[string]string       // thread of a subagent → the call that made it
	edits   codexEdits              // what open edits want to change
	pending map[string]codexPending // requests of the CLI without an answer, by their key
	end     codexEnd
}

func newCodexTurn(c *conversation) *codexTurn {
	t := &codexTurn{
		conversation: c, thread: c.turn.SessionID,
		mcp: map[string]string{}, reasons: map[string]string{}, parents: map[string]string{}, pending: map[string]codexPending{},
	}
	if !c.turn.Resume {
		t.thread = "" // Codex chooses
	}
	c.peer = t
	return t
}

func (c *codexTurn) hello() {
	for _, note := range codexIgnored(c.turn.Settings) {
		c.emit(KindSystemMessage, Message{Text: note})
	}
	c.call(codexInitialize, "initialize", map[string]any{
		"clientInfo":   map[string]string{"name": "sandboxrun", "title": "sandboxrun", "version": "1"},
		"capabilities": map[string]any{"experimentalApi": true, "requestAttestation": false},
	})
}

// initialized begins or resumes the thread once the CLI is there.
func (c *codexTurn) initialized() {
	c.notify("initialized")
	if c.probing {
		c.finish()
		return
	}
	params := map[string]any{
		"cwd":            sandbox.WorkDir,
		"approvalPolicy": codexPolicy(c.turn.Settings),
		// Codex does not begin to trust the repository under this one; what holds
		// for commands is in turn/start.
		"sandbox": "read-only",
	}
	if v := c.turn.Settings.String("base_instructions"); v != "" {
		params["baseInstructions"] = v
	}
	if c.turn.Model != "" {
		params["model"] = c.turn.Model
	}
	if !c.turn.Resume {
		c.call(codexThread, "thread/start", params)
		return
	}
	params["threadId"], params["excludeTurns"] = c.turn.SessionID, true
	// The thread remembers the provider of its first turn.
	params["modelProvider"] = codexProvider
	c.call(codexThread, "thread/resume", params)
}

// start sends the prompt. The sandbox is repeated in every turn: a resumed
// thread has forgotten it.
func (c *codexTurn) start() {
	params := map[string]any{
		"threadId":       c.thread,
		"input":          []map[string]string{{"type": "text", "text": c.turn.Prompt}},
		"approvalPolicy": codexPolicy(c.turn.Settings),
		"sandboxPolicy":  map[string]string{"type": "externalSandbox", "networkAccess": "enabled"},
	}
	effort := c.turn.Settings.String("model_reasoning_effort")
	if effort != "" {
		params["effort"] = effort
	}
	if v := c.turn.Settings.String("model_reasoning_summary"); v != "" {
		params["summary"] = v
	}
	if c.planning() {
		settings := map[string]any{"model": c.model, "reasoning_effort": nil, "developer_instructions": nil}
		if effort != "" {
			settings["reasoning_effort"] = effort
		}
		params["collaborationMode"] = map[string]any{"mode": "plan", "settings": settings}
	}
	c.call(codexStart, "turn/start", params)
}

// planning says that the CLI's own plan mode is wanted, which a sandbox that
// only reads is not.
func (c *codexTurn) planning() bool {
	return c.turn.ReadOnly && c.turn.Settings.String("sandbox") != "read-only"
}

// interrupt ends the turn inside the CLI. Before there is one, leaving is all
// that can be asked for.
func (c *codexTurn) interrupt() {
	if c.turnID == "" || c.end.seen {
		c.leaveNow()
		return
	}
	c.call(codexInterrupt, "turn/interrupt", map[string]string{"threadId": c.thread, "turnId": c.turnID})
}

// leaveNow ends the commands that are left and the input after that.
func (c *codexTurn) leaveNow() {
	c.clean()
	c.finish()
}

// clean ends the commands the turn has left behind, once.
func (c *codexTurn) clean() {
	if c.thread == "" || c.cleaned {
		return
	}
	c.cleaned = true
	c.call(codexClean, "thread/backgroundTerminals/clean", map[string]string{"threadId": c.thread})
}

// patience is short when the turn is over but for commands that still run.
func (c *codexTurn) patience() (time.Duration, bool) { return lingerGrace, c.held }

// overdue ends what still runs, and the turn when that has not helped.
func (c *codexTurn) overdue() {
	if c.cleaned {
		c.finish()
		return
	}
	c.clean()
}

// broken ends a turn that cannot go on.
func (c *codexTurn) broken(message string) {
	if c.end.failure == nil {
		c.end.failure = &codexFailure{Message: message}
	}
	c.leaveNow()
}
