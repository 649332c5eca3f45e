package acp

import (
	"context"
	"encoding/json"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"

	acp "github.com/coder/acp-go-sdk"
)

// maxOptions bounds the options of a permission request.
const maxOptions = 64

// permission handles session/request_permission. Whatever is wrong with one, it
// is answered, and not with a yes.
func (a *peer) permission(ctx context.Context, m agentMessage, text []byte) {
	key := string(m.id)
	if twin, ok := a.open[key]; ok {
		// Nobody can tell which of the two an answer is to.
		a.Withdraw(key)
		delete(a.open, key)
		a.EmitUnknown(text)
		a.cancelled(twin.message)
		a.cancelled(m)
		return
	}
	var p permissionRequest
	var u sessionUpdate
	if cli.Decode(m.params, &p) != nil || cli.Decode(p.Call, &u) != nil || p.SessionID != a.session || a.phase != phasePrompting || a.Stopping() {
		a.EmitUnknown(text)
		a.cancelled(m)
		return
	}
	a.flush()
	open := openRequest{message: m, allow: p.option(acp.PermissionOptionKindAllowOnce), reject: p.option(acp.PermissionOptionKindRejectOnce)}
	t := a.merge(u)
	if t == nil || !a.show(t) || open.allow == "" {
		a.EmitUnknown(text)
		a.cancelled(m)
		if t != nil && t.shown {
			a.refuse(u.CallID, "the agent gave no way to allow this once")
		}
		return
	}
	a.acts()
	if refused := a.Ask(ctx, key, a.request(m, u, t)); refused != "" {
		a.EmitUnknown(text)
		a.cancelled(m)
		a.refuse(u.CallID, refused)
		return
	}
	open.answers = p.answers()
	a.open[key] = open
}

// request is what the host is asked. The request itself counts, as it may be
// about less or more than the call; what it leaves out is the call's.
func (a *peer) request(m agentMessage, u sessionUpdate, t *toolCall) agents.ApprovalRequest {
	if u.Kind == "" {
		u.Kind = t.update.Kind
	}
	if emptyInput(u.Input) {
		u.Input = t.update.Input
	}
	if u.Title == "" {
		u.Title = t.update.Title
	}
	if len(u.Locations) == 0 {
		u.Locations = t.update.Locations
	}
	if len(u.blocks()) == 0 {
		u.Content = t.update.Content
	}
	tool, action := t.tool, t.action
	if action != agents.ActionMCP { // whose name a request may replace by a title
		tool, _ = a.name(&t.update)
		action = actionOf(u.Kind)
	}
	r := agents.ApprovalRequest{
		ID: idText(m.id), ToolID: u.CallID, Tool: tool, Action: action, Input: u.input(),
		Command: a.command(&u, action), Paths: u.paths(),
	}
	if r.Command == "" && action == agents.ActionCommand && a.quirks.asked != nil {
		r.Command = a.quirks.asked(u.said())
	}
	if a.quirks.questions != nil {
		u.announced = t.update.announced
		r.Questions = a.quirks.questions(&u)
	}
	return r
}

// option is the id of the option of a kind; "" where there is none, or where the
// id stands for something else too. Names and ids of options say nothing.
func (p *permissionRequest) option(kind acp.PermissionOptionKind) acp.PermissionOptionId {
	if len(p.Options) > maxOptions {
		return ""
	}
	id := ""
	for _, o := range p.Options {
		if o.Kind == kind && id == "" {
			id = o.ID
		}
	}
	for _, o := range p.Options {
		if o.ID == id && o.Kind != kind {
			return ""
		}
	}
	return acp.PermissionOptionId(id)
}

// answers are the options that allow, by name, where a request has several: the
// answers to a question.
func (p *permissionRequest) answers() map[string]acp.PermissionOptionId {
	list := map[string]acp.PermissionOptionId{}
	for _, o := range p.Options {
		if o.Kind == acp.PermissionOptionKindAllowOnce {
			list[o.Name] = acp.PermissionOptionId(o.ID)
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// choose is the option that stands for the answer to a question; "" where the
// request has options for other answers only.
func (o openRequest) choose(r agents.ApprovalRequest, d agents.Decision) acp.PermissionOptionId {
	if len(o.answers) == 0 {
		return o.allow
	}
	for _, q := range r.Questions {
		for _, chosen := range d.Answers[q.ID] {
			if id, ok := o.answers[chosen]; ok {
				return id
			}
		}
	}
	return ""
}

// Answer sends a decision.
func (a *peer) Answer(q *cli.Asked, d agents.Decision) {
	o, ok := a.open[q.Key]
	if !ok {
		return
	}
	delete(a.open, q.Key)
	running := a.Running()
	asked := d.Allow && len(q.Request.Questions) > 0
	chosen := o.choose(q.Request, d)
	if asked && chosen == "" {
		d.Allow, d.Reason = false, "the agent's question has no such answer"
	}
	switch {
	case running && asked && d.Allow:
		a.write(a.link.answer(o.message, answeredPermission{Outcome: acp.NewRequestPermissionOutcomeSelected(chosen), Answers: answersOf(d)}, nil))
	case running && d.Allow:
		a.outcomeOf(o.message, acp.NewRequestPermissionOutcomeSelected(o.allow))
	case running && o.reject != "":
		a.outcomeOf(o.message, acp.NewRequestPermissionOutcomeSelected(o.reject))
	default:
		a.cancelled(o.message)
	}
	if running && !d.Allow {
		a.refuse(q.Request.ToolID, d.Reason)
		if len(a.prompt.refused) < cli.MaxApprovals {
			a.prompt.refused = append(a.prompt.refused, d.Reason)
		}
	}
}

// answeredPermission is an answer to a permission request that asked questions.
type answeredPermission struct {
	Outcome acp.RequestPermissionOutcome `json:"outcome"`
	Answers map[string]string            `json:"answers"`
}

func answersOf(d agents.Decision) map[string]string {
	answers := map[string]string{}
	for id, chosen := range d.Answers {
		answers[id] = strings.Join(chosen, ", ")
	}
	return answers
}

// cancelled answers a permission request without a decision.
func (a *peer) cancelled(m agentMessage) {
	a.outcomeOf(m, acp.NewRequestPermissionOutcomeCancelled())
}

func (a *peer) outcomeOf(m agentMessage, o acp.RequestPermissionOutcome) {
	a.write(a.link.answer(m, acp.RequestPermissionResponse{Outcome: o}, nil))
}

// idText is an id as text.
func idText(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return text
	}
	return string(id)
}
