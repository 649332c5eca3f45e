package agents

import (
	"context"
	"encoding/json"
)

// Control messages from us to Claude Code. Request ids are ours and fixed, as
// each of these is sent at most once in a turn.

type claudeRequest struct {
	Type      string         `json:"type"`
	RequestID string         `json:"request_id"`
	Request   map[string]any `json:"request"`
}

type claudeResponse struct {
	Type     string              `json:"type"`
	Response claudeResponseInner `json:"response"`
}

type claudeResponseInner struct {
	Subtype   string          `json:"subtype"` // success or error
	RequestID json.RawMessage `json:"request_id"`
	Response  any             `json:"response,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// claudePermission is an answer to can_use_tool.
type claudePermission struct {
	Behavior     string          `json:"behavior"` // allow or deny
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`
}

func claudeInitialize() any {
	return claudeRequest{Type: "control_request", RequestID: "initialize", Request: map[string]any{"subtype": "initialize", "hooks": nil}}
}

func claudeInterrupt() any {
	return claudeRequest{Type: "control_request", RequestID: "interrupt", Request: map[string]any{"subtype": "interrupt"}}
}

func claudePrompt(text string) any {
	return map[string]any{
		"type": "user",
		"message": map[string]any{
			"role":    "user",
			"content": []map[string]string{{"type": "text", "text": text}},
		},
	}
}

func claudeSuccess(id json.RawMessage, response any) any {
	return claudeResponse{Type: "control_response", Response: claudeResponseInner{Subtype: "success", RequestID: id, Response: response}}
}

func claudeFailure(id json.RawMessage, message string) any {
	return claudeResponse{Type: "control_response", Response: claudeResponseInner{Subtype: "error", RequestID: id, Error: message}}
}

// claudePlanned is the tool by which the model shows its plan and asks to begin.
const claudePlanned = "ExitPlanMode"

// control handles a request of the CLI. Every request gets an answer, as the
// CLI waits for one without limit.
func (c *claudeTurn) control(ctx context.Context, f claudeFrame, text []byte) {
	if !claudeID(f.RequestID) {
		c.strange(text)
		return
	}
	var req struct {
		Subtype   string          `json:"subtype"`
		ToolName  string          `json:"tool_name"`
		ToolUseID string          `json:"tool_use_id"`
		Input     json.RawMessage `json:"input"`
	}
	if err := decode(f.Request, &req); err != nil || req.Subtype != "can_use_tool" {
		c.strange(text)
		c.send(claudeFailure(f.RequestID, "unsupported control request"))
		return
	}
	input := object(req.Input)
	target := claudeTarget(input)
	r := ApprovalRequest{
		ID: claudeIDText(f.RequestID), ToolID: req.ToolUseID, Tool: req.ToolName, Action: claudeAction(req.ToolName), Input: input,
		Command: target.Command, Paths: target.paths(),
	}
	switch {
	case req.ToolName == claudeAsk:
		r.Questions = claudeQuestions(input)
	case req.ToolName == claudePlanned && c.turn.ReadOnly:
		// Allowing it would leave the plan mode and begin the work.
		c.calls.deny(r.ToolID)
		c.send(claudeSuccess(f.RequestID, claudePermission{Behavior: "deny", Message: "the plan is taken down; this turn ends with it: say it in short and stop"}))
		return
	}
	if refused := c.ask(ctx, string(f.RequestID), r); refused != "" {
		c.strange(text)
		c.send(claudeFailure(f.RequestID, refused))
	}
}

// answer sends the decision about a tool call: exactly the input that was
// decided about, or the reason of the denial.
func (c *claudeTurn) answer(q *asked, d Decision) {
	id := json.RawMessage(q.key)
	switch {
	case !d.Allow:
		c.send(claudeSuccess(id, claudePermission{Behavior: "deny", Message: d.Reason}))
	case len(q.request.Questions) > 0:
		c.send(claudeSuccess(id, claudePermission{Behavior: "allow", UpdatedInput: claudeAnswered(q.request, d)}))
	default:
		c.send(claudeSuccess(id, claudePermission{Behavior: "allow", UpdatedInput: q.request.Input}))
	}
}

// maxClaudeID bounds the id of a request, in bytes of JSON.
const maxClaudeID = 256

// claudeID says whether id can name a request: a JSON string or number.
func claudeID(id json.RawMessage) bool {
	var text string
	var number json.Number
	return len(id) <= maxClaudeID && (json.Unmarshal(id, &number) == nil && number != "" || json.Unmarshal(id, &text) == nil && text != "")
}

func claudeIDText(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return text
	}
	return string(id)
}
