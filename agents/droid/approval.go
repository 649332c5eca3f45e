package droid

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

const (
	optionAllow = "proceed_once"
	optionDeny  = "cancel"
	// planTool is the tool that hands over a plan.
	planTool = "ExitSpecMode"
	// latePrefix starts the key of a request the CLI did not make.
	latePrefix = "late/"
)

// askedUse is one call that permission is asked for.
type askedUse struct {
	ToolUse callMethod `json:"toolUse"`
	Details struct {
		File  string `json:"filePath"`
		Plan  string `json:"plan"`
		Files []struct {
			File string `json:"filePath"`
			To   string `json:"moveTo"`
		} `json:"files"`
	} `json:"details"`
}

// permissionOption is one answer the CLI offers.
type permissionOption struct {
	Value string `json:"value"`
}

// permission lets the host decide about the calls of one request.
func (c *peer) permission(ctx context.Context, f frame, text []byte) {
	var p struct {
		ToolUses []askedUse         `json:"toolUses"`
		Options  []permissionOption `json:"options"`
	}
	err := cli.Decode(f.Params, &p)
	allowable := slices.ContainsFunc(p.Options, func(o permissionOption) bool { return o.Value == optionAllow })
	if err != nil || len(p.ToolUses) == 0 || len(p.ToolUses) > cli.MaxApprovals || !allowable ||
		slices.ContainsFunc(p.ToolUses, func(u askedUse) bool { return !validID(u.ToolUse.ID) }) {
		c.EmitUnknown(text)
		c.choose(f.ID, optionDeny)
		return
	}
	if c.Turn.ReadOnly && len(p.ToolUses) == 1 && p.ToolUses[0].ToolUse.Name == planTool {
		c.planned(f.ID, p.ToolUses[0])
		return
	}
	a := &openRequest{id: f.ID}
	c.asking[f.ID] = a
	for i, u := range p.ToolUses {
		c.known(u.ToolUse.ID)
		key := f.ID + "/" + strconv.Itoa(i)
		a.calls = append(a.calls, u.ToolUse.ID)
		if refused := c.Ask(ctx, key, u.approval(f.ID)); refused != "" {
			c.EmitUnknown(text)
			c.deny(a, agents.Decision{Reason: refused})
			return
		}
		a.keys = append(a.keys, key)
	}
}

// approval is the request about one call.
func (u askedUse) approval(id string) agents.ApprovalRequest {
	input := cli.Object(u.ToolUse.Input)
	target := readTarget(input)
	r := agents.ApprovalRequest{
		ID: id, ToolID: u.ToolUse.ID, Tool: u.ToolUse.Name, Action: actionOf(u.ToolUse.Name), Input: input, Command: target.Command, Paths: target.paths(),
	}
	r.Paths = append(r.Paths, u.Details.File)
	for _, f := range u.Details.Files {
		r.Paths = append(r.Paths, f.File, f.To)
	}
	r.Paths = slices.DeleteFunc(r.Paths, func(p string) bool { return p == "" })
	slices.Sort(r.Paths)
	r.Paths = slices.Compact(r.Paths)
	return r
}

// planned takes a plan as what it is in a turn that only plans: its end.
func (c *peer) planned(id string, u askedUse) {
	if c.known(u.ToolUse.ID) {
		c.plan = u.ToolUse.ID
	}
	if u.Details.Plan != "" {
		c.Emit(agents.KindAssistantMessage, agents.Message{Text: u.Details.Plan})
		c.end.claim = cli.Head(u.Details.Plan, cli.MaxWords)
	}
	c.choose(id, optionDeny)
}

// unasked ends a turn in which something ran that was not to run.
func (c *peer) unasked(r agents.ApprovalRequest, reason string) {
	c.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeFailed, Message: fmt.Sprintf("the agent began %s without asking, and it was not allowed: %s", r.Tool, cli.Head(reason, cli.MaxWords))})
}

// Answer passes a decision of the host on.
func (c *peer) Answer(q *cli.Asked, d agents.Decision) {
	if strings.HasPrefix(q.Key, latePrefix) {
		c.approved[q.Request.ToolID] = d.Allow
		if !d.Allow {
			c.unasked(q.Request, d.Reason)
		}
		return
	}
	a := c.asking[q.Request.ID]
	if a == nil {
		return // the other calls of the request have decided it
	}
	if !d.Allow {
		c.deny(a, d)
		return
	}
	a.keys = slices.DeleteFunc(a.keys, func(k string) bool { return k == q.Key })
	if len(a.questions) > 0 {
		delete(c.asking, a.id)
		c.Send(newResult(a.id, answersReply(a.questions, d)))
		return
	}
	if len(a.keys) > 0 {
		return
	}
	delete(c.asking, a.id)
	for _, id := range a.calls {
		c.approved[id] = true
	}
	c.choose(a.id, optionAllow)
}

// deny answers a request one of whose calls is not allowed, and with it all.
func (c *peer) deny(a *openRequest, d agents.Decision) {
	delete(c.asking, a.id)
	for _, key := range a.keys {
		c.Withdraw(key)
	}
	for _, id := range a.calls {
		c.Calls.Deny(id)
		if o := c.Calls.At(id); o != nil && len(c.denials) < cli.MaxApprovals {
			c.denials = append(c.denials, toldDenial{action: o.Action, command: o.Command, reason: d.Reason})
		}
	}
	if len(a.questions) > 0 {
		c.Send(newResult(a.id, noAnswers))
		return
	}
	c.choose(a.id, optionDeny)
}

func (c *peer) choose(id, option string) {
	c.Send(newResult(id, map[string]string{"selectedOption": option}))
}
