package document

import (
	"cmp"
	"fmt"
	"time"
)

// Approval is the policy for tool calls that no rule decides.
type Approval string

// Approval policies.
const (
	ApproveAuto Approval = "auto" // allowed: the box is what protects the user
	ApproveAsk  Approval = "ask"  // a person decides
	ApproveDeny Approval = "deny"
)

// approvalSeconds is how long a request waits for a person where nothing else
// was asked for. Afterwards it is denied.
const approvalSeconds = 600

// ApprovalProblem says why a is no policy; "" when it is one, or empty.
func ApprovalProblem(a Approval) string {
	switch a {
	case "", ApproveAuto, ApproveAsk, ApproveDeny:
		return ""
	}
	return fmt.Sprintf("must be one of %s, %s, %s", ApproveAuto, ApproveAsk, ApproveDeny)
}

// Approvals is what a task asks about its agent's tool calls: rules, the policy
// for what no rule decides, and how long a person may take.
type Approvals struct {
	Policy         Approval       `json:"policy,omitempty"`
	Allow          []ApprovalRule `json:"allow,omitempty"`
	Deny           []ApprovalRule `json:"deny,omitempty"` // go before Allow
	TimeoutSeconds int            `json:"timeout_seconds,omitempty"`
}

// ApprovalPlan is the approval part of a plan.
type ApprovalPlan struct {
	Policy         Approval       `json:"policy"`
	Allow          []ApprovalRule `json:"allow"`
	Deny           []ApprovalRule `json:"deny"`
	TimeoutSeconds int            `json:"timeout_seconds"`
}

// Timeout is how long a request waits for a person.
func (p ApprovalPlan) Timeout() time.Duration { return time.Duration(p.TimeoutSeconds) * time.Second }

func (a *Approvals) validate(p *Problems) {
	for kind, rules := range map[string][]ApprovalRule{"allow": a.Allow, "deny": a.Deny} {
		for i, r := range rules {
			if why := r.problem(); why != "" {
				p.Add(fmt.Sprintf("/approvals/%s/%d", kind, i), "%s", why)
			}
		}
	}
}

// PlanApprovals merges what flags, task and profile say, in this order.
func PlanApprovals(flag Approval, task *Approvals, profile Approval) ApprovalPlan {
	var a Approvals
	if task != nil {
		a = *task
	}
	return ApprovalPlan{
		Policy: cmp.Or(flag, a.Policy, profile, ApproveAuto),
		Allow:  append([]ApprovalRule{}, a.Allow...), Deny: append([]ApprovalRule{}, a.Deny...),
		TimeoutSeconds: cmp.Or(a.TimeoutSeconds, approvalSeconds),
	}
}
