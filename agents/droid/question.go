package droid

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// questionReply is the answer to a set of questions.
type questionReply struct {
	Cancelled bool             `json:"cancelled"`
	Answers   []questionAnswer `json:"answers"`
}

type questionAnswer struct {
	Index    int    `json:"index"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// noAnswers is the reply without an answer.
var noAnswers = questionReply{Cancelled: true, Answers: []questionAnswer{}}

// question lets the host answer what the model asks.
func (c *peer) question(ctx context.Context, f frame, text []byte) {
	var p struct {
		CallID    string         `json:"toolCallId"`
		Questions []userQuestion `json:"questions"`
	}
	if err := cli.Decode(f.Params, &p); err != nil || len(p.Questions) == 0 || len(p.Questions) > cli.MaxQuestions {
		c.EmitUnknown(text)
		c.Send(newResult(f.ID, noAnswers))
		return
	}
	input, err := json.Marshal(map[string]any{"questions": p.Questions})
	if err != nil {
		input = []byte("{}") // what was decoded always marshals
	}
	c.known(p.CallID)
	r := agents.ApprovalRequest{ID: f.ID, ToolID: p.CallID, Tool: "AskUser", Action: agents.ActionOther, Input: input}
	for _, q := range p.Questions {
		one := agents.Question{ID: strconv.Itoa(q.Index), Text: q.Question, Multiple: q.Multiple}
		for _, o := range q.Options {
			one.Options = append(one.Options, agents.QuestionOption{Label: o})
		}
		r.Questions = append(r.Questions, one)
	}
	a := &openRequest{id: f.ID, calls: []string{p.CallID}, questions: p.Questions}
	c.asking[f.ID] = a
	if refused := c.Ask(ctx, f.ID, r); refused != "" {
		c.EmitUnknown(text)
		c.deny(a, agents.Decision{Reason: refused})
		return
	}
	a.keys = []string{f.ID}
}

// answersReply is the reply with the answers of a person.
func answersReply(questions []userQuestion, d agents.Decision) questionReply {
	r := questionReply{Answers: []questionAnswer{}}
	for _, q := range questions {
		r.Answers = append(r.Answers, questionAnswer{Index: q.Index, Question: q.Question, Answer: strings.Join(d.Answers[strconv.Itoa(q.Index)], ", ")})
	}
	return r
}
