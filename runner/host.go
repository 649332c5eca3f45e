package runner

import (
	"encoding/json"
	"sync"

	"sandboxrun/agents"
)

// maxAgentCommands bounds how many of the agent's own commands a result lists.
const maxAgentCommands = 200

// agentExcerpt bounds an excerpt of what the agent says a command printed.
const agentExcerpt = 8 << 10

// host is what an agent sees of the runner: its events go to the journal, its
// requests are decided by the plan's policy.
type host struct {
	x      *run
	mu     sync.Mutex
	open   map[string]string // command by id of its tool call
	done   []CommandRun
	denied []denial
}

func newHost(x *run) *host { return &host{x: x, open: map[string]string{}} }

// Emit writes an event down and keeps the agent's commands for the result.
func (h *host) Emit(e agents.Event) {
	h.x.log.emit("agent", string(e.Kind), e.Data)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch d := e.Data.(type) {
	case agents.ToolCall:
		if d.Action == agents.ActionCommand && len(h.open)+len(h.done) < maxAgentCommands {
			h.open[d.ID] = commandText(d.Input)
		}
	case agents.ToolResult:
		text, ok := h.open[d.ID]
		if !ok {
			return
		}
		delete(h.open, d.ID)
		if d.Command != "" {
			text = d.Command
		}
		h.done = append(h.done, CommandRun{Command: text, ExitCode: d.ExitCode, Source: "agent", Phase: "agent",
			StdoutExcerpt: headTail(h.x.secrets.String(d.Text), agentExcerpt), Truncated: len(d.Text) > agentExcerpt})
	}
}

// finish moves what was collected into the run.
func (h *host) finish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.x.commands = append(h.x.commands, h.done...)
	for _, text := range h.open {
		h.x.commands = append(h.x.commands, CommandRun{Command: text, Source: "agent", Phase: "agent"})
	}
	h.tellDenied()
}

// commandText is the command of a tool call's input, whatever the CLI calls it.
func commandText(input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(input, &in) != nil || in.Command == "" {
		return headTail(string(input), agentExcerpt)
	}
	return in.Command
}
