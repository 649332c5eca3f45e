package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sandboxrun/agents"
	"sandboxrun/runner/approval"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/record"
)

// maxAgentCommands bounds how many of the agent's own commands a result lists.
const maxAgentCommands = 200

// agentExcerpt bounds an excerpt of what the agent says a command printed.
const agentExcerpt = 8 << 10

// host is what an agent sees of the runner: its events go to the journal, its
// requests are decided by the plan's policy.
type host struct {
	run      string
	plan     *plan.Agent
	record   *record.Record
	evidence *evidence
	report   *report
	desk     *approval.Desk
	asker    approval.Asker

	mu     sync.Mutex
	open   map[string]string // command by id of its tool call
	done   []document.CommandRun
	denied []denial
}

func (x *run) newHost() *host {
	return &host{run: x.id, plan: x.plan.Agent, record: &x.record, evidence: &x.evidence, report: &x.report, desk: x.desk, asker: x.r.o.Asker,
		open: map[string]string{}}
}

// Emit records an event and keeps the agent's commands for the result.
func (h *host) Emit(e agents.Event) {
	h.record.Log.Pass("agent", e)
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
		h.done = append(h.done, document.CommandRun{Command: text, ExitCode: d.ExitCode, Source: "agent", Phase: "agent",
			StdoutExcerpt: excerpt.HeadTail(h.record.Secrets.String(d.Text), agentExcerpt), Truncated: len(d.Text) > agentExcerpt})
	}
}

// finish moves what was collected into the run.
func (h *host) finish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.evidence.commands = append(h.evidence.commands, h.done...)
	for _, text := range h.open {
		h.evidence.commands = append(h.evidence.commands, document.CommandRun{Command: text, Source: "agent", Phase: "agent"})
	}
	h.reportDenied()
}

// commandText is the command of a tool call's input, whatever the CLI calls it.
func commandText(input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(input, &in) != nil || in.Command == "" {
		return excerpt.HeadTail(string(input), agentExcerpt)
	}
	return in.Command
}

// Bounds of what the journal keeps of a request, in bytes, and of how many
// denials are listed.
const (
	maxApprovalInput = 64 << 10
	maxDenials       = 100
)

// denial is a tool call that was not allowed.
type denial struct {
	tool    string
	reason  string
	timeout bool
}

// Approve decides about a tool call of the agent: rules first, then the policy.
// Nothing is allowed because something is missing.
func (h *host) Approve(ctx context.Context, r agents.ApprovalRequest) agents.Decision {
	p := approval.Pending{
		ID: h.desk.Number(), Run: h.run, Deadline: time.Now().Add(h.plan.Approvals.Timeout()).UTC().Truncate(time.Millisecond),
		Digest: approval.Digest(r.Tool, r.Input), Tool: r.Tool, Action: r.Action, Input: h.record.Secrets.JSON(r.Input), Questions: r.Questions,
	}
	h.recordRequest(r, p)
	a, timeout := h.desk.Decide(ctx, h.plan, h.asker, r, p)
	h.record.Log.Emit("agent", journal.ApprovalAnswered{ID: p.ID, Digest: p.Digest, Allow: a.Allow, Reason: a.Reason, By: a.By, TimedOut: timeout})
	if !a.Allow {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.denied) < maxDenials && len(r.Questions) == 0 {
			h.denied = append(h.denied, denial{tool: r.Tool, reason: a.Reason, timeout: timeout})
		}
	}
	return agents.Decision{Allow: a.Allow, Reason: a.Reason, Answers: a.Answers}
}

func (h *host) recordRequest(r agents.ApprovalRequest, p approval.Pending) {
	asked := journal.ApprovalAsked{
		ID: p.ID, AgentID: excerpt.HeadTail(r.ID, 256), ToolID: excerpt.HeadTail(r.ToolID, 256), Tool: excerpt.HeadTail(r.Tool, 256), Action: r.Action,
		Digest: p.Digest, InputBytes: len(r.Input), Deadline: p.Deadline, Policy: h.plan.Approvals.Policy, Questions: r.Questions,
	}
	if len(r.Input) <= maxApprovalInput && json.Valid(r.Input) {
		asked.Input = r.Input
	} else {
		asked.Input, _ = json.Marshal(excerpt.HeadTail(string(r.Input), maxApprovalInput)) //nolint:errchkjson // strings always marshal
	}
	h.record.Log.Emit("agent", asked)
}

// reportDenied turns denials into issues: one for those that were decided, one
// for those nobody decided in time.
func (h *host) reportDenied() {
	var denied, late []string
	for _, d := range h.denied {
		text := fmt.Sprintf("%s (%s)", excerpt.Printable(excerpt.HeadTail(d.tool, 100)), d.reason)
		if d.timeout {
			late = append(late, text)
		} else if !slices.Contains(denied, text) {
			denied = append(denied, text)
		}
	}
	if len(denied) > 0 {
		h.report.add(issue(document.CodeApprovalDenied, "tool calls of the agent were denied: "+excerpt.Clip(strings.Join(denied, "; "), 2000)))
	}
	if len(late) > 0 {
		h.report.add(issue(document.CodeApprovalTimeout, "nobody decided about tool calls in time: "+excerpt.Clip(strings.Join(late, "; "), 2000)))
	}
}
