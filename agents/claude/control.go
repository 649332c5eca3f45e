package claude

import (
	"context"
	"encoding/json"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// Control messages from us to Claude Code. Request ids are ours and fixed, as
// each of these is sent at most once in a turn.

type controlRequest struct {
	Type      string         `json:"type"`
	RequestID string         `json:"request_id"`
	Request   map[string]any `json:"request"`
}

type controlResponse struct {
	Type     string       `json:"type"`
	Response responseBody `json:"response"`
}

type responseBody struct {
	Subtype   string          `json:"subtype"` // success or error
	RequestID json.RawMessage `json:"request_id"`
	Response  any             `json:"response,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// permissionAnswer is an answer to can_use_tool.
type permissionAnswer struct {
	Behavior     string          `json:"behavior"` // allow or deny
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`
}

func initializeRequest() any {
	return controlRequest{Type: "control_request", RequestID: "initialize", Request: map[string]any{"subtype": "initialize", "hooks": nil}}
}

func interruptRequest() any {
	return controlRequest{Type: "control_request", RequestID: "interrupt", Request: map[string]any{"subtype": "interrupt"}}
}

func promptMessage(text string) any {
	return map[string]any{
		"type": "user",
		"message": map[string]any{
			"role":    "user",
			"content": []map[string]string{{"type": "text", "text": text}},
		},
	}
}

func successResponse(id json.RawMessage, response any) any {
	return controlResponse{Type: "control_response", Response: responseBody{Subtype: "success", RequestID: id, Response: response}}
}

func failureResponse(id json.RawMessage, message string) any {
	return controlResponse{Type: "control_response", Response: responseBody{Subtype: "error", RequestID: id, Error: message}}
}

// planTool is the tool by which the model shows its plan and asks to begin.
const planTool = "ExitPlanMode"

// control handles a request of the CLI. Every request gets an answer, as the
// CLI waits for one without limit.
func (c *peer) control(ctx context.Context, f frame, text []byte) {
	if !validID(f.RequestID) {
		c.EmitUnknown(text)
		return
	}
	var req struct {
		Subtype   string          `json:"subtype"`
		ToolName  string          `json:"tool_name"`
		ToolUseID string          `json:"tool_use_id"`
		Input     json.RawMessage `json:"input"`
	}
	if err := cli.Decode(f.Request, &req); err != nil || req.Subtype != "can_use_tool" {
		c.EmitUnknown(text)
		c.Send(failureResponse(f.RequestID, "unsupported control request"))
		return
	}
	input := cli.Object(req.Input)
	target := readTarget(input)
	r := agents.ApprovalRequest{
		ID: idText(f.RequestID), ToolID: req.ToolUseID, Tool: req.ToolName, Action: actionOf(req.ToolName), Input: input,
		Command: target.Command, Paths: target.paths(),
	}
	switch {
	case req.ToolName == questionTool:
		r.Questions = readQuestions(input)
	case req.ToolName == planTool && c.Turn.ReadOnly:
		// Allowing it would leave the plan mode and begin the work.
		c.Calls.Deny(r.ToolID)
		c.Send(successResponse(f.RequestID, permissionAnswer{Behavior: "deny", Message: "the plan is recorded and this turn ends with it: summarize the plan in one or two sentences and stop"}))
		return
	}
	if refused := c.Ask(ctx, string(f.RequestID), r); refused != "" {
		c.EmitUnknown(text)
		c.Send(failureResponse(f.RequestID, refused))
	}
}

// Answer sends the decision about a tool call: exactly the input that was
// decided about, or the reason of the denial.
func (c *peer) Answer(q *cli.Asked, d agents.Decision) {
	id := json.RawMessage(q.Key)
	switch {
	case !d.Allow:
		c.Send(successResponse(id, permissionAnswer{Behavior: "deny", Message: d.Reason}))
	case len(q.Request.Questions) > 0:
		c.Send(successResponse(id, permissionAnswer{Behavior: "allow", UpdatedInput: answeredInput(q.Request, d)}))
	default:
		c.Send(successResponse(id, permissionAnswer{Behavior: "allow", UpdatedInput: q.Request.Input}))
	}
}

// maxID bounds the id of a request, in bytes of JSON.
const maxID = 256

// validID says whether id can name a request: a JSON string or number.
func validID(id json.RawMessage) bool {
	var text string
	var number json.Number
	return len(id) <= maxID && (json.Unmarshal(id, &number) == nil && number != "" || json.Unmarshal(id, &text) == nil && text != "")
}

func idText(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return text
	}
	return string(id)
}
