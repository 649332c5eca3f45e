package agents

import "encoding/json"

// codexUserInput is the tool by which the model asks the user.
const codexUserInput = "request_user_input"

// codexQuestion is one question of request_user_input.
type codexQuestion struct {
	ID       string           `json:"id"`
	Question string           `json:"question"`
	Options  []QuestionOption `json:"options"`
}

// codexQuestions are the questions of a request, answered by their own id.
func codexQuestions(asked []codexQuestion, params json.RawMessage) []Question {
	if len(asked) == 0 || len(asked) > maxQuestions {
		// Something is asked that cannot be shown piece by piece.
		return []Question{{ID: "", Text: head(string(params), maxWords)}}
	}
	var list []Question
	for _, q := range asked {
		list = append(list, Question{ID: q.ID, Text: q.Question, Options: q.Options})
	}
	return list
}

// codexAnswers is the user's answers as Codex takes them. It tells the model of
// an empty set that there are none.
func codexAnswers(d Decision) map[string]any {
	out := map[string]any{}
	if d.Allow {
		for id, chosen := range d.Answers {
			out[id] = map[string][]string{"answers": chosen}
		}
	}
	return out
}

// beginQuestion makes a call of a question, which is no item of the turn.
func (c *codexTurn) beginQuestion(id string, r ApprovalRequest) {
	if c.calls.begin(id, ActionOther, "") {
		c.emit(KindToolCall, ToolCall{ID: id, Tool: r.Tool, Action: r.Action, Input: object(r.Input)})
	}
}

// endQuestion gives it its result.
func (c *codexTurn) endQuestion(q *asked, d Decision) {
	if _, known := c.calls.take(q.request.ToolID); !known {
		return
	}
	delete(c.reasons, q.request.ToolID)
	r := ToolResult{ID: q.request.ToolID, Status: StatusOK, Text: string(codexJSON(codexAnswers(d)))}
	switch {
	case !d.Allow && c.stopping():
		r.Status, r.Text = StatusCancelled, ""
	case !d.Allow:
		r.Status, r.Text = StatusDenied, d.Reason
	}
	c.emit(KindToolResult, r)
}
