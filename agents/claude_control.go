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
	if req.ToolName == "AskUserQuestion" {
		c.deny(f.RequestID, req.ToolUseID, "nobody can answer questions during this run; choose the most reasonable option and say which")
		return
	}
	if len(req.Input) == 0 {
		req.Input = json.RawMessage("{}")
	}
	if refused := c.approvals.ask(ctx, f.RequestID, ApprovalRequest{
		ID: claudeIDText(f.RequestID), ToolID: req.ToolUseID, Tool: req.ToolName, Action: claudeAction(req.ToolName), Input: req.Input,
	}); refused != "" {
		c.strange(text)
		c.send(claudeFailure(f.RequestID, refused))
	}
}

// answer sends the decision about a tool call: exactly the input that was
// decided about, or the reason of the denial.
func (c *claudeTurn) answer(asked *claudeAsked) {
	switch {
	case !c.approvals.settle(asked):
	case asked.decision.Allow:
		c.send(claudeSuccess(asked.id, claudePermission{Behavior: "allow", UpdatedInput: asked.input}))
	default:
		c.deny(asked.id, asked.toolID, asked.decision.Reason)
	}
}

// denyAll ends asking: what is open is denied, whatever was decided meanwhile.
func (c *claudeTurn) denyAll() {
	for _, asked := range c.approvals.close() {
		if c.approvals.settle(asked) {
			c.deny(asked.id, asked.toolID, "the turn is being stopped")
		}
	}
}

func (c *claudeTurn) deny(id json.RawMessage, toolID, reason string) {
	if reason == "" {
		reason = "denied"
	}
	c.tools.deny(toolID)
	c.send(claudeSuccess(id, claudePermission{Behavior: "deny", Message: reason}))
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
