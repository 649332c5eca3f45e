package codex

import (
	"encoding/json"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// questionTool is the tool by which the model asks the user.
const questionTool = "request_user_input"

// userQuestion is one question of request_user_input.
type userQuestion struct {
	ID       string                  `json:"id"`
	Question string                  `json:"question"`
	Options  []agents.QuestionOption `json:"options"`
}

// readQuestions are the questions of a request, answered by their own id.
func readQuestions(asked []userQuestion, params json.RawMessage) []agents.Question {
	if len(asked) == 0 || len(asked) > cli.MaxQuestions {
		// Something is asked that cannot be shown piece by piece.
		return []agents.Question{{ID: "", Text: cli.Head(string(params), cli.MaxWords)}}
	}
	var list []agents.Question
	for _, q := range asked {
		list = append(list, agents.Question{ID: q.ID, Text: q.Question, Options: q.Options})
	}
	return list
}

// answerResult is the user's answers as Codex takes them. It tells the model of
// an empty set that there are none.
func answerResult(d agents.Decision) map[string]any {
	out := map[string]any{}
	if d.Allow {
		for id, chosen := range d.Answers {
			out[id] = map[string][]string{"answers": chosen}
		}
	}
	return out
}

// beginQuestion makes a call of a question, which is no item of the turn.
func (c *peer) beginQuestion(id string, r agents.ApprovalRequest) {
	if c.Calls.Begin(id, agents.ActionOther, "") {
		c.Emit(agents.KindToolCall, agents.ToolCall{ID: id, Tool: r.Tool, Action: r.Action, Input: cli.Object(r.Input)})
	}
}

// endQuestion gives it its result.
func (c *peer) endQuestion(q *cli.Asked, d agents.Decision) {
	if _, known := c.Calls.Take(q.Request.ToolID); !known {
		return
	}
	delete(c.reasons, q.Request.ToolID)
	r := agents.ToolResult{ID: q.Request.ToolID, Status: agents.StatusOK, Text: string(asJSON(answerResult(d)))}
	switch {
	case !d.Allow && c.Stopping():
		r.Status, r.Text = agents.StatusCancelled, ""
	case !d.Allow:
		r.Status, r.Text = agents.StatusDenied, d.Reason
	}
	c.Emit(agents.KindToolResult, r)
}
