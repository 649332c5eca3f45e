package agents

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
)

// droidQuestion is one question of the model.
type droidQuestion struct {
	Index    int      `json:"index"`
	Topic    string   `json:"topic"`
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Multiple bool     `json:"multiSelect"`
}

// droidReply is the answer to a set of questions.
type droidReply struct {
	Cancelled bool          `json:"cancelled"`
	Answers   []droidAnswer `json:"answers"`
}

type droidAnswer struct {
	Index    int    `json:"index"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// droidUnanswered is the reply where nobody answers.
var droidUnanswered = droidReply{Cancelled: true, Answers: []droidAnswer{}}

// question lets the host answer what the model asks.
func (c *droidTurn) question(ctx context.Context, f droidFrame, text []byte) {
	var p struct {
		CallID    string          `json:"toolCallId"`
		Questions []droidQuestion `json:"questions"`
	}
	if err := decode(f.Params, &p); err != nil || len(p.Questions) == 0 || len(p.Questions) > maxQuestions {
		c.strange(text)
		c.send(droidResult(f.ID, droidUnanswered))
		return
	}
	input, err := json.Marshal(map[string]any{"questions": p.Questions})
	if err != nil {
		input = []byte("{}") // what was decoded always marshals
	}
	c.known(p.CallID)
	r := ApprovalRequest{ID: f.ID, ToolID: p.CallID, Tool: "AskUser", Action: ActionOther, Input: input}
	for _, q := range p.Questions {
		one := Question{ID: strconv.Itoa(q.Index), Text: q.Question, Multiple: q.Multiple}
		for _, o := range q.Options {
			one.Options = append(one.Options, QuestionOption{Label: o})
		}
		r.Questions = append(r.Questions, one)
	}
	a := &droidAsking{id: f.ID, calls: []string{p.CallID}, questions: p.Questions}
	c.asking[f.ID] = a
	if refused := c.ask(ctx, f.ID, r); refused != "" {
		c.strange(text)
		c.deny(a, Decision{Reason: refused})
		return
	}
	a.keys = []string{f.ID}
}

// droidAnswers is the reply with the answers of a person.
func droidAnswers(questions []droidQuestion, d Decision) droidReply {
	r := droidReply{Answers: []droidAnswer{}}
	for _, q := range questions {
		r.Answers = append(r.Answers, droidAnswer{Index: q.Index, Question: q.Question, Answer: strings.Join(d.Answers[strconv.Itoa(q.Index)], ", ")})
	}
	return r
}
