package agents

import (
	"context"
	"encoding/json"
	"strings"

	acp "github.com/coder/acp-go-sdk"
)

// acpOpen is a permission request without an answer.
type acpOpen struct {
	message acpMessage
	allow   acp.PermissionOptionId // "" where there is no such option
	reject  acp.PermissionOptionId
}

// maxACPOptions bounds the options of a permission request.
const maxACPOptions = 64

// permission handles session/request_permission. Whatever is wrong with one, it
// is answered, and not with a yes.
func (a *acpTurn) permission(ctx context.Context, m acpMessage, text []byte) {
	key := string(m.id)
	if twin, ok := a.open[key]; ok {
		// Nobody can tell which of the two an answer is to.
		a.approvals.withdraw(key)
		delete(a.open, key)
		a.strange(text)
		a.cancelled(twin.message)
		a.cancelled(m)
		return
	}
	var p acpPermission
	var u acpUpdate
	if decode(m.params, &p) != nil || decode(p.Call, &u) != nil || p.SessionID != a.session || a.phase != acpPrompting || a.stopping() {
		a.strange(text)
		a.cancelled(m)
		return
	}
	a.flush()
	open := acpOpen{message: m, allow: p.option(acp.PermissionOptionKindAllowOnce), reject: p.option(acp.PermissionOptionKindRejectOnce)}
	t := a.merge(u)
	if t == nil || !a.show(t) || open.allow == "" {
		a.strange(text)
		a.cancelled(m)
		if t != nil && t.shown {
			a.refuse(u.CallID, "the agent gave no way to allow this once")
		}
		return
	}
	a.acts()
	if refused := a.ask(ctx, key, a.request(m, u, t)); refused != "" {
		a.strange(text)
		a.cancelled(m)
		a.refuse(u.CallID, refused)
		return
	}
	a.open[key] = open
}

// request is what the host is asked. The request itself counts, as it may be
// about less or more than the call; what it leaves out is the call's.
func (a *acpTurn) request(m acpMessage, u acpUpdate, t *acpTool) ApprovalRequest {
	if u.Kind == "" {
		u.Kind = t.update.Kind
	}
	if acpEmpty(u.Input) {
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
	tool, action := a.name(&t.update)
	if action != ActionMCP {
		action = acpAction(u.Kind)
	}
	r := ApprovalRequest{
		ID: acpIDText(m.id), ToolID: u.CallID, Tool: tool, Action: action, Input: u.input(),
		Command: a.command(&u, action), Paths: u.paths(),
	}
	if a.quirks.questions != nil {
		r.Questions = a.quirks.questions(&u)
	}
	return r
}

// option is the id of the option of a kind; "" where there is none, or where the
// id stands for something else too. Names and ids of options say nothing.
func (p *acpPermission) option(kind acp.PermissionOptionKind) acp.PermissionOptionId {
	if len(p.Options) > maxACPOptions {
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

// answer sends a decision.
func (a *acpTurn) answer(q *asked, d Decision) {
	o, ok := a.open[q.key]
	if !ok {
		return
	}
	delete(a.open, q.key)
	running := a.state == turnRunning
	switch {
	case running && d.Allow && len(q.request.Questions) > 0:
		a.write(a.link.answer(o.message, acpAnswered{Outcome: acp.NewRequestPermissionOutcomeSelected(o.allow), Answers: acpAnswers(d)}, nil))
	case running && d.Allow:
		a.outcomeOf(o.message, acp.NewRequestPermissionOutcomeSelected(o.allow))
	case running && o.reject != "":
		a.outcomeOf(o.message, acp.NewRequestPermissionOutcomeSelected(o.reject))
	default:
		a.cancelled(o.message)
	}
	if running && !d.Allow {
		a.refuse(q.request.ToolID, d.Reason)
		if len(a.prompt.refused) < maxApprovals {
			a.prompt.refused = append(a.prompt.refused, d.Reason)
		}
	}
}

// acpAnswered is an answer to a permission request that asked questions.
type acpAnswered struct {
	Outcome acp.RequestPermissionOutcome `json:"outcome"`
	Answers map[string]string            `json:"answers"`
}

func acpAnswers(d Decision) map[string]string {
	answers := map[string]string{}
	for id, chosen := range d.Answers {
		answers[id] = strings.Join(chosen, ", ")
	}
	return answers
}

// cancelled answers a permission request that nobody decides.
func (a *acpTurn) cancelled(m acpMessage) {
	a.outcomeOf(m, acp.NewRequestPermissionOutcomeCancelled())
}

func (a *acpTurn) outcomeOf(m acpMessage, o acp.RequestPermissionOutcome) {
	a.write(a.link.answer(m, acp.RequestPermissionResponse{Outcome: o}, nil))
}

// acpIDText is an id as text.
func acpIDText(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return text
	}
	return string(id)
}
