// Package approval decides what an agent asks for: by the rules of the task, by its policy, or by the
// answer of a person.
package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
)

// Who decided, as the journal names them.
const (
	byRule   = "rule"
	byPolicy = "policy"
	byPlan   = "read-only run"
	byNobody = "nobody"
)

// Decide is the whole policy: rules of the task first, then its policy, then a
// person, whom asker asks; nil where nobody is there. Nothing is allowed because
// something is missing. timeout says that a person had time and did not answer.
func (d *Desk) Decide(ctx context.Context, agent *plan.Agent, asker Asker, r agents.ApprovalRequest, p Pending) (a Answer, timeout bool) {
	rules := agent.Approvals
	p.Command = r.Command
	question := len(r.Questions) > 0
	switch {
	case ctx.Err() != nil:
		return Answer{Reason: "the run is being stopped", By: byNobody}, false
	case agent.ReadOnly && r.Action == agents.ActionEdit:
		return Answer{Reason: "this run only looks and plans: it changes no files", By: byPlan}, false
	case slices.ContainsFunc(rules.Deny, func(rule document.ApprovalRule) bool { return rule.Denies(r) }):
		return Answer{Reason: "denied by a rule of the task", By: byRule}, false
	case !question && slices.ContainsFunc(rules.Allow, func(rule document.ApprovalRule) bool { return rule.Allows(r) }):
		return Answer{Allow: true, By: byRule}, false
	case rules.Policy == document.ApproveAuto && !question:
		return Answer{Allow: true, By: byPolicy}, false
	case rules.Policy == document.ApproveAuto:
		return Answer{Reason: "nobody can answer questions during this run; choose the most reasonable option and say which", By: byPolicy}, false
	case rules.Policy != document.ApproveAsk:
		return Answer{Reason: "denied by the task's approval policy", By: byPolicy}, false
	case asker == nil && !d.Box.Exists():
		return Answer{Reason: "nobody can be asked: this run has no terminal", By: byNobody}, false
	}
	if a, ok := d.recall(p, r); ok {
		return a, false
	}
	if full := d.admit(); full != "" {
		return Answer{Reason: full, By: byNobody}, false
	}
	defer d.leave()
	a, err := d.wait(ctx, p, asker)
	switch {
	case errors.Is(err, errApprovalTimeout):
		return Answer{Reason: fmt.Sprintf("nobody answered within %s", rules.Timeout()), By: byNobody}, true
	case err != nil: // what cannot be stored or read is not allowed
		return Answer{Reason: "the request could not be put to a person: " + err.Error(), By: byNobody}, false
	case !a.Allow && a.Reason == "":
		a.Reason = "denied by the user"
	}
	return a, false
}
