package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sandboxrun/agents"
)

// Bounds of what the journal keeps of a request, in bytes, and of how many
// denials are told apart.
const (
	maxApprovalInput = 64 << 10
	maxDenials       = 100
)

// Who decided, as the journal says it.
const (
	byRule   = "rule"
	byPolicy = "policy"
	byPlan   = "read-only run"
	byNobody = "nobody"
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
	p := Pending{
		ID: h.x.desk.number(), Run: h.x.id, Deadline: time.Now().Add(h.x.plan.Agent.Approvals.timeout()).UTC().Truncate(time.Millisecond),
		Digest: digest(r.Tool, r.Input), Tool: r.Tool, Action: r.Action, Input: h.x.secrets.JSON(r.Input), Questions: r.Questions,
	}
	h.tellAsked(r, p)
	a, timeout := h.decide(ctx, r, p)
	h.x.log.emit("agent", EventApprovalAnswered, map[string]any{
		"id": p.ID, "digest": p.Digest, "allow": a.Allow, "reason": a.Reason, "by": a.By, "timed_out": timeout,
	})
	if !a.Allow {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.denied) < maxDenials && len(r.Questions) == 0 {
			h.denied = append(h.denied, denial{tool: r.Tool, reason: a.Reason, timeout: timeout})
		}
	}
	return agents.Decision{Allow: a.Allow, Reason: a.Reason, Answers: a.Answers}
}

func (h *host) tellAsked(r agents.ApprovalRequest, p Pending) {
	data := map[string]any{
		"id": p.ID, "agent_id": headTail(r.ID, 256), "tool_id": headTail(r.ToolID, 256), "tool": headTail(r.Tool, 256), "action": r.Action,
		"digest": p.Digest, "input_bytes": len(r.Input), "deadline": p.Deadline, "policy": h.x.plan.Agent.Approvals.Policy,
	}
	if len(r.Input) <= maxApprovalInput && json.Valid(r.Input) {
		data["input"] = json.RawMessage(r.Input)
	} else {
		data["input"] = headTail(string(r.Input), maxApprovalInput)
	}
	if len(r.Questions) > 0 {
		data["questions"] = r.Questions
	}
	h.x.log.emit("agent", EventApprovalAsked, data)
}

// decide is the whole policy. timeout says that a person had time and did not
// answer.
func (h *host) decide(ctx context.Context, r agents.ApprovalRequest, p Pending) (a Answer, timeout bool) {
	plan := h.x.plan.Agent
	rules := plan.Approvals
	question := len(r.Questions) > 0
	switch {
	case ctx.Err() != nil:
		return Answer{Reason: "the run is being stopped", By: byNobody}, false
	case plan.ReadOnly && r.Action == agents.ActionEdit:
		return Answer{Reason: "this run only looks and plans: it changes no files", By: byPlan}, false
	case slices.ContainsFunc(rules.Deny, func(rule ApprovalRule) bool { return rule.denies(r) }):
		return Answer{Reason: "denied by a rule of the task", By: byRule}, false
	case !question && slices.ContainsFunc(rules.Allow, func(rule ApprovalRule) bool { return rule.allows(r) }):
		return Answer{Allow: true, By: byRule}, false
	case rules.Policy == ApproveAuto && !question:
		return Answer{Allow: true, By: byPolicy}, false
	case rules.Policy == ApproveAuto:
		return Answer{Reason: "nobody can answer questions during this run; choose the most reasonable option and say which", By: byPolicy}, false
	case rules.Policy != ApproveAsk:
		return Answer{Reason: "denied by the task's approval policy", By: byPolicy}, false
	case h.x.r.o.Asker == nil && !h.x.r.o.Attended:
		return Answer{Reason: "nobody can be asked: this run has no terminal", By: byNobody}, false
	}
	a, err := h.x.desk.wait(ctx, p, h.x.r.o.Asker)
	switch {
	case errors.Is(err, errApprovalTimeout):
		return Answer{Reason: fmt.Sprintf("nobody answered within %s", rules.timeout()), By: byNobody}, true
	case err != nil:
		return Answer{Reason: "the run is being stopped", By: byNobody}, false
	case !a.Allow && a.Reason == "":
		a.Reason = "denied by the user"
	}
	return a, false
}

// tellDenied turns denials into issues: one for those that were decided, one
// for those nobody decided in time.
func (h *host) tellDenied() {
	var denied, late []string
	for _, d := range h.denied {
		text := fmt.Sprintf("%s (%s)", Printable(headTail(d.tool, 100)), d.reason)
		if d.timeout {
			late = append(late, text)
		} else if !slices.Contains(denied, text) {
			denied = append(denied, text)
		}
	}
	if len(denied) > 0 {
		h.x.findings.add(flaw, Issue{Type: IssueConflict, Code: "approval_denied",
			Description:     "tool calls of the agent were denied: " + clip(strings.Join(denied, "; "), 2000),
			SuggestedAction: "allow them with approvals.allow or --approve=auto if the agent may act freely inside its box"})
	}
	if len(late) > 0 {
		h.x.findings.add(flaw, Issue{Type: IssueConflict, Code: "approval_timeout",
			Description:     "nobody decided about tool calls in time: " + clip(strings.Join(late, "; "), 2000),
			SuggestedAction: "answer sooner, raise approvals.timeout_seconds, or allow them with approvals.allow"})
	}
}
