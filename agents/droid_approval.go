package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	droidAllow = "proceed_once"
	droidDeny  = "cancel"
	// droidExitPlan is the tool that hands over a plan.
	droidExitPlan = "ExitSpecMode"
	// droidLate starts the key of a request the CLI did not make.
	droidLate = "late/"
)

// droidAsking is one request of the CLI that waits for decisions: about one
// call or several, which are allowed together or not at all, or for answers.
type droidAsking struct {
	id        string
	calls     []string // ids
	keys      []string // of the open requests to the host
	questions []droidQuestion
}

// droidUse is one call that permission is asked for.
type droidUse struct {
	ToolUse droidCall `json:"toolUse"`
	Details struct {
		File  string `json:"filePath"`
		Plan  string `json:"plan"`
		Files []struct {
			File string `json:"filePath"`
			To   string `json:"moveTo"`
		} `json:"files"`
	} `json:"details"`
}

// droidOption is one answer the CLI offers.
type droidOption struct {
	Value string `json:"value"`
}

// permission lets the host decide about the calls of one request.
func (c *droidTurn) permission(ctx context.Context, f droidFrame, text []byte) {
	var p struct {
		ToolUses []droidUse    `json:"toolUses"`
		Options  []droidOption `json:"options"`
	}
	err := decode(f.Params, &p)
	allowable := slices.ContainsFunc(p.Options, func(o droidOption) bool { return o.Value == droidAllow })
	if err != nil || len(p.ToolUses) == 0 || len(p.ToolUses) > maxApprovals || !allowable ||
		slices.ContainsFunc(p.ToolUses, func(u droidUse) bool { return !droidNamed(u.ToolUse.ID) }) {
		c.strange(text)
		c.choose(f.ID, droidDeny)
		return
	}
	if c.turn.ReadOnly && len(p.ToolUses) == 1 && p.ToolUses[0].ToolUse.Name == droidExitPlan {
		c.planned(f.ID, p.ToolUses[0])
		return
	}
	a := &droidAsking{id: f.ID}
	c.asking[f.ID] = a
	for i, u := range p.ToolUses {
		c.known(u.ToolUse.ID)
		key := f.ID + "/" + strconv.Itoa(i)
		a.calls = append(a.calls, u.ToolUse.ID)
		if refused := c.ask(ctx, key, u.approval(f.ID)); refused != "" {
			c.strange(text)
			c.deny(a, Decision{Reason: refused})
			return
		}
		a.keys = append(a.keys, key)
	}
}

// approval is the request about one call.
func (u droidUse) approval(id string) ApprovalRequest {
	input := object(u.ToolUse.Input)
	target := droidTouched(input)
	r := ApprovalRequest{
		ID: id, ToolID: u.ToolUse.ID, Tool: u.ToolUse.Name, Action: droidAction(u.ToolUse.Name), Input: input, Command: target.Command, Paths: target.paths(),
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
func (c *droidTurn) planned(id string, u droidUse) {
	if c.known(u.ToolUse.ID) {
		c.plan = u.ToolUse.ID
	}
	if u.Details.Plan != "" {
		c.emit(KindAssistantMessage, Message{Text: u.Details.Plan})
		c.end.claim = head(u.Details.Plan, maxWords)
	}
	c.choose(id, droidDeny)
}

// late asks the host about a call that has begun already.
func (c *droidTurn) late(ctx context.Context, n droidNote, o *call) {
	c.emit(KindSystemMessage, Message{Text: fmt.Sprintf("the agent began %s without asking", n.ToolName)})
	input, err := json.Marshal(map[string]string{"command": o.command})
	if err != nil || o.command == "" {
		input = []byte("{}") // strings always marshal
	}
	r := ApprovalRequest{ID: droidLate + n.ToolUseID, ToolID: n.ToolUseID, Tool: n.ToolName, Action: o.action, Command: o.command, Input: input}
	if refused := c.ask(ctx, r.ID, r); refused != "" {
		c.unasked(r, refused)
	}
}

// unasked ends a turn in which something ran that was not to run.
func (c *droidTurn) unasked(r ApprovalRequest, reason string) {
	c.stop(stop{end: EndFailed, code: codeFailed, message: fmt.Sprintf("the agent began %s without asking, and it was not allowed: %s", r.Tool, head(reason, maxWords))})
}

// answer passes a decision of the host on.
func (c *droidTurn) answer(q *asked, d Decision) {
	if strings.HasPrefix(q.key, droidLate) {
		c.approved[q.request.ToolID] = d.Allow
		if !d.Allow {
			c.unasked(q.request, d.Reason)
		}
		return
	}
	a := c.asking[q.request.ID]
	if a == nil {
		return // the other calls of the request have decided it
	}
	if !d.Allow {
		c.deny(a, d)
		return
	}
	a.keys = slices.DeleteFunc(a.keys, func(k string) bool { return k == q.key })
	if len(a.questions) > 0 {
		delete(c.asking, a.id)
		c.send(droidResult(a.id, droidAnswers(a.questions, d)))
		return
	}
	if len(a.keys) > 0 {
		return
	}
	delete(c.asking, a.id)
	for _, id := range a.calls {
		c.approved[id] = true
	}
	c.choose(a.id, droidAllow)
}

// deny answers a request one of whose calls is not allowed, and with it all.
func (c *droidTurn) deny(a *droidAsking, d Decision) {
	delete(c.asking, a.id)
	for _, key := range a.keys {
		c.approvals.withdraw(key)
	}
	for _, id := range a.calls {
		c.calls.deny(id)
		if o := c.calls.open[id]; o != nil && len(c.denials) < maxApprovals {
			c.denials = append(c.denials, droidDenial{action: o.action, command: o.command, reason: d.Reason})
		}
	}
	if len(a.questions) > 0 {
		c.send(droidResult(a.id, droidUnanswered))
		return
	}
	c.choose(a.id, droidDeny)
}

func (c *droidTurn) choose(id, option string) {
	c.send(droidResult(id, map[string]string{"selectedOption": option}))
}
