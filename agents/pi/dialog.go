package pi

import (
	"context"
	"encoding/json"
	"strconv"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// Dialogs of the guard, by their titles.
const (
	dialogApprove = "sandboxrun.approve"
	dialogAsk     = "sandboxrun.ask"
)

// about is what the guard asks for: a call, or questions of the model.
type about struct {
	ID        string          `json:"id"` // of the call
	Tool      string          `json:"tool"`
	Input     json.RawMessage `json:"input"`
	Questions []struct {
		Question string                  `json:"question"`
		Options  []agents.QuestionOption `json:"options"`
		Multiple bool                    `json:"multiple"`
	} `json:"questions"`
}

// verdict is what the guard is told.
type verdict struct {
	Allow   bool                `json:"allow"`
	Reason  string              `json:"reason,omitempty"`
	Answers map[string][]string `json:"answers,omitempty"` // by the question's place
}

// dialog lets the host decide about a call, or answer what the model asks. What
// cannot be read, or is about no open call, is denied.
func (c *peer) dialog(ctx context.Context, f frame, text []byte) {
	if !validID(f.ID) {
		c.EmitUnknown(text) // an answer would reach no dialog
		return
	}
	var a about
	err := cli.Decode([]byte(f.Prefill), &a)
	r := agents.ApprovalRequest{ID: f.ID, ToolID: a.ID, Tool: a.Tool, Action: actionOf(a.Tool), Input: cli.Object(a.Input)}
	switch {
	case f.Title == dialogApprove && err == nil && c.Calls.Has(a.ID) && a.Tool != "":
		t := readTarget(a.Input)
		r.Command = t.Command
		if t.Path != "" {
			r.Paths = []string{t.Path}
		}
	case f.Title == dialogAsk && err == nil && c.Calls.Has(a.ID) && len(a.Questions) > 0 && len(a.Questions) <= cli.MaxQuestions:
		r.Tool, r.Action, r.Questions = askTool, agents.ActionOther, a.list()
		if input, err := json.Marshal(map[string]any{"questions": a.Questions}); err == nil { // what was decoded always marshals
			r.Input = input
		}
	case f.Title == dialogApprove || f.Title == dialogAsk:
		c.EmitUnknown(text)
		c.tell(f.ID, verdict{Reason: "the request cannot be read"})
		return
	default: // another extension's
		c.EmitUnknown(text)
		c.Send(dialogAnswer{Type: dialogAnswerType, ID: f.ID, Cancelled: true})
		return
	}
	if refused := c.Ask(ctx, f.ID, r); refused != "" {
		c.Calls.Deny(a.ID)
		c.tell(f.ID, verdict{Reason: refused})
	}
}

func (a about) list() []agents.Question {
	var list []agents.Question
	for i, q := range a.Questions {
		list = append(list, agents.Question{ID: strconv.Itoa(i), Text: q.Question, Options: q.Options, Multiple: q.Multiple})
	}
	return list
}

// Answer passes a decision of the host on.
func (c *peer) Answer(q *cli.Asked, d agents.Decision) {
	v := verdict{Allow: d.Allow, Reason: d.Reason}
	if d.Allow {
		v.Answers = d.Answers
	}
	c.tell(q.Key, v)
}

func (c *peer) tell(id string, v verdict) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte("{}") // strings always marshal; nothing in it denies
	}
	c.Send(dialogAnswer{Type: dialogAnswerType, ID: id, Value: string(b)})
}
