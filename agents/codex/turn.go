package codex

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// peer is one turn of Codex.
type peer struct {
	*cli.Conversation
	probing bool // only the handshake
	thread  string
	turnID  string
	model   string
	version string
	held    bool                  // the turn is over, commands still run
	cleaned bool                  // those were told to end
	steers  uint64                // requests of callSteer made
	reasons map[string]string     // why an open call was denied
	mcp     map[string]string     // tool of an MCP server → its last call
	parents map[string]string     // thread of a subagent → the call that made it
	servers map[string]bool       // MCP servers of the task that are not connected yet
	waiting time.Time             // the prompt waits for them until then
	edits   openEdits             // what open edits want to change
	pending map[string]pendingAsk // requests of the CLI without an answer, by their key
	end     ending
}

func newPeer(c *cli.Conversation) *peer {
	t := &peer{
		Conversation: c, thread: c.Turn.SessionID,
		mcp: map[string]string{}, reasons: map[string]string{}, servers: map[string]bool{}, parents: map[string]string{}, pending: map[string]pendingAsk{},
	}
	for _, s := range c.Turn.MCP {
		t.servers[s.Name] = true
	}
	if !c.Turn.Resume {
		t.thread = "" // Codex chooses
	}
	c.Peer = t
	return t
}

func (c *peer) Hello() {
	for _, note := range ignoredSettings(c.Turn.Settings) {
		c.Emit(agents.KindSystemMessage, agents.Message{Text: note})
	}
	c.call(callInitialize, "initialize", map[string]any{
		"clientInfo":   map[string]string{"name": "sandboxrun", "title": "sandboxrun", "version": "1"},
		"capabilities": map[string]any{"experimentalApi": true, "requestAttestation": false},
	})
}

// initialized begins or resumes the thread once the CLI is there.
func (c *peer) initialized() {
	c.notify("initialized")
	if c.probing {
		c.Finish()
		return
	}
	params := map[string]any{
		"cwd":            sandbox.WorkDir,
		"approvalPolicy": approvalPolicy(c.Turn.Settings),
		// Codex does not begin to trust the repository under this one; what holds
		// for commands is in turn/start.
		"sandbox": "read-only",
	}
	if v := c.Turn.Settings.String("base_instructions"); v != "" {
		params["baseInstructions"] = v
	}
	if c.Turn.Model != "" {
		params["model"] = c.Turn.Model
	}
	if !c.Turn.Resume {
		c.call(callThread, "thread/start", params)
		return
	}
	params["threadId"], params["excludeTurns"] = c.Turn.SessionID, true
	// The thread remembers the provider of its first turn.
	params["modelProvider"] = providerName
	c.call(callThread, "thread/resume", params)
}

// serve starts the turn, or lets it wait until the MCP servers of the task are
// connected or have failed: the model is offered the tools of those only that
// are when its turn begins.
func (c *peer) serve() {
	if len(c.servers) == 0 {
		c.start()
		return
	}
	c.waiting = time.Now().Add(cli.ServerLimit)
}

// served notes that an MCP server is connected, or will not be.
func (c *peer) served(name string) {
	delete(c.servers, name)
	if !c.waiting.IsZero() && len(c.servers) == 0 && !c.Stopping() {
		c.waiting = time.Time{}
		c.start()
	}
}

// start sends the prompt. The sandbox is repeated in every turn: a resumed
// thread has forgotten it.
func (c *peer) start() {
	params := map[string]any{
		"threadId":       c.thread,
		"input":          []map[string]string{{"type": "text", "text": c.Turn.Prompt}},
		"approvalPolicy": approvalPolicy(c.Turn.Settings),
		"sandboxPolicy":  map[string]string{"type": "externalSandbox", "networkAccess": "enabled"},
	}
	effort := c.Turn.Settings.String("model_reasoning_effort")
	if effort != "" {
		params["effort"] = effort
	}
	if v := c.Turn.Settings.String("model_reasoning_summary"); v != "" {
		params["summary"] = v
	}
	if c.planning() {
		settings := map[string]any{"model": c.model, "reasoning_effort": nil, "developer_instructions": nil}
		if effort != "" {
			settings["reasoning_effort"] = effort
		}
		params["collaborationMode"] = map[string]any{"mode": "plan", "settings": settings}
	}
	c.call(callStart, "turn/start", params)
}

// planning says that the CLI's own plan mode is wanted, which a sandbox that
// only reads is not.
func (c *peer) planning() bool {
	return c.Turn.ReadOnly && c.Turn.Settings.String("sandbox") != "read-only"
}

// Interrupt ends the turn inside the CLI. Before there is one, leaving is all
// that can be asked for.
func (c *peer) Interrupt() {
	if c.turnID == "" || c.end.seen {
		c.leaveNow()
		return
	}
	c.call(callInterrupt, "turn/interrupt", map[string]string{"threadId": c.thread, "turnId": c.turnID})
}

// leaveNow ends the commands that are left and the input after that.
func (c *peer) leaveNow() {
	c.clean()
	c.Finish()
}

// clean ends the commands the turn has left behind, once.
func (c *peer) clean() {
	if c.thread == "" || c.cleaned {
		return
	}
	c.cleaned = true
	c.call(callClean, "thread/backgroundTerminals/clean", map[string]string{"threadId": c.thread})
}

// Patience is short while MCP servers are waited for, and when the turn is over
// but for commands that still run.
func (c *peer) Patience() (time.Duration, bool) {
	if !c.waiting.IsZero() {
		return max(time.Until(c.waiting), 0), true
	}
	return cli.LingerGrace, c.held
}

// Overdue starts the turn without the servers that did not connect, ends what
// still runs, and ends the turn when that has not helped.
func (c *peer) Overdue() {
	if !c.waiting.IsZero() {
		for _, name := range slices.Sorted(maps.Keys(c.servers)) {
			c.ReportServer(name, "")
		}
		clear(c.servers)
		c.waiting = time.Time{}
		c.start()
		return
	}
	if c.cleaned {
		c.Finish()
		return
	}
	c.clean()
}

// broken ends a turn that cannot go on.
func (c *peer) broken(message string) {
	if c.end.failure == nil {
		c.end.failure = &turnError{Message: message}
	}
	c.leaveNow()
}

// pendingAsk is what has to be known of a request when it is decided.
type pendingAsk struct {
	id     jsonrpc2.ID
	method string
	thread string
}

// ending collects how a turn ends.
type ending struct {
	seen    bool       // turn/completed for this turn
	failure *turnError // what it said went wrong, or what did before it
	last    *turnError // the last error of the provider
	claim   string
	usage   agents.Usage
}

// turnError is an error as Codex reports it.
type turnError struct {
	Message string          `json:"message"`
	Info    json.RawMessage `json:"codexErrorInfo"` // a word, or an object with one
	Details string          `json:"additionalDetails"`
}
