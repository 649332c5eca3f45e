package runner

import (
	"context"
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
	x    *run
	mu   sync.Mutex
	open map[string]string // command by id of its tool call
	done []CommandRun
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
			StdoutExcerpt: headTail(d.Text, agentExcerpt), Truncated: len(d.Text) > agentExcerpt})
	}
}

// Approve decides by policy; inside the box "auto" is the default because the
// box, not the question, is what protects the user.
func (h *host) Approve(ctx context.Context, r agents.ApprovalRequest) agents.Decision {
	h.x.log.emit("agent", EventApprovalAsked, map[string]any{"id": r.ID, "tool": r.Tool, "action": r.Action, "tool_id": r.ToolID})
	d := agents.Decision{Reason: "denied by the task's approval policy"}
	if ctx.Err() == nil && h.x.plan.Agent.Approve == ApproveAuto {
		d = agents.Decision{Allow: true}
	}
	h.x.log.emit("agent", EventApprovalAnswered, map[string]any{"id": r.ID, "allow": d.Allow, "reason": d.Reason})
	if !d.Allow {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.x.denied++
	}
	return d
}

// finish moves what was collected into the run.
func (h *host) finish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.x.commands = append(h.x.commands, h.done...)
	for _, text := range h.open {
		h.x.commands = append(h.x.commands, CommandRun{Command: text, Source: "agent", Phase: "agent"})
	}
	if h.x.denied > 0 {
		h.x.findings.add(flaw, Issue{Type: IssueConflict, Code: "approval_denied",
			Description:     "the approval policy denied tool calls of the agent",
			SuggestedAction: "run with --approve=auto if the agent may act freely inside its box"})
	}
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
