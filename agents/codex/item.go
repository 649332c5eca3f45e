package codex

import (
	"encoding/json"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// maxThreads bounds the subagents whose words are assigned to a call.
const maxThreads = 64

// item handles the start or the completion of an item.
func (c *peer) item(f frame, text []byte, done bool) {
	var n struct {
		ThreadID string          `json:"threadId"`
		Item     json.RawMessage `json:"item"`
	}
	var i threadItem
	if cli.Decode(cli.Object(f.Params), &n) != nil || cli.Decode(cli.Object(n.Item), &i) != nil {
		c.EmitUnknown(text)
		return
	}
	parent := c.parent(n.ThreadID)
	switch i.Type {
	case "commandExecution", "fileChange", "mcpToolCall", "dynamicToolCall", "collabAgentToolCall", "webSearch", "imageView", "imageGeneration":
		c.toolItem(i, parent, text, done)
	case "agentMessage", "plan":
		if !done || i.Text == "" {
			return
		}
		c.Emit(agents.KindAssistantMessage, agents.Message{Text: i.Text, Parent: parent})
		if n.ThreadID == c.thread {
			c.end.claim = i.Text
		}
	case "reasoning":
		said := strings.Join(i.Summary, "\n\n")
		if said == "" {
			said = strings.Join(i.Content, "\n\n")
		}
		if done && said != "" {
			c.Emit(agents.KindThinking, agents.Message{Text: said, Parent: parent})
		}
	case "contextCompaction":
		if done {
			c.Emit(agents.KindSystemMessage, agents.Message{Text: "the agent has summed up the conversation to save room", Parent: parent})
		}
	case "userMessage", "hookPrompt", "functionCallOutput", "subAgentActivity", "sleep", "enteredReviewMode", "exitedReviewMode":
		// The prompt is known, and the rest has notifications of its own.
	default:
		c.EmitUnknown(text)
	}
}

// toolItem handles a call of a tool. Some have no start.
func (c *peer) toolItem(i threadItem, parent string, text []byte, done bool) {
	if !c.Calls.Has(i.ID) && !c.beginItem(i, parent) || !done && !c.edits.note(i) {
		c.EmitUnknown(text)
		return
	}
	if !done {
		return
	}
	c.edits.drop(i.ID)
	if i.Type == "collabAgentToolCall" {
		c.adopt(i)
	}
	c.finishItem(i)
	if c.held && c.Calls.Count() == 0 {
		c.leaveNow()
	}
}

// beginItem notes a call; false when its id cannot be used.
func (c *peer) beginItem(i threadItem, parent string) bool {
	tool, action, input := i.call()
	command := ""
	if action == agents.ActionCommand {
		command = innerScript(i.Command)
	}
	if !c.Calls.Begin(i.ID, action, command) {
		return false
	}
	if action == agents.ActionMCP {
		c.mcp[tool] = i.ID
	}
	c.Emit(agents.KindToolCall, agents.ToolCall{ID: i.ID, Tool: tool, Action: action, Input: input, Parent: parent})
	return true
}

// adopt remembers which call made a subagent.
func (c *peer) adopt(i threadItem) {
	for _, thread := range i.Receivers {
		if thread != c.thread && c.parents[thread] == "" && len(c.parents) < maxThreads {
			c.parents[thread] = i.ID
		}
	}
}

// parent is the call whose subagent has a thread, "" for the turn's own.
func (c *peer) parent(thread string) string {
	switch call := c.parents[thread]; {
	case thread == c.thread:
		return ""
	case call != "":
		return call
	}
	return thread
}

// finishItem gives a call its result.
func (c *peer) finishItem(i threadItem) {
	o, known := c.Calls.Take(i.ID)
	if !known {
		return
	}
	defer delete(c.reasons, i.ID)
	if tool := mcpTool(i.Server, i.Tool); c.mcp[tool] == i.ID {
		delete(c.mcp, tool)
	}
	r := agents.ToolResult{ID: i.ID, Status: agents.StatusOK, Text: i.told(), Command: o.Command}
	failed := i.Status == "failed" || i.Success != nil && !*i.Success
	switch {
	case i.Status == "declined" && c.Stopping():
		r.Status = agents.StatusCancelled
	case i.Status == "declined", failed && o.Denied:
		r.Status, r.Text = agents.StatusDenied, c.reasons[i.ID]
	case failed && (c.Stopping() || c.cleaned), i.Status == "inProgress", i.Status == "interrupted":
		r.Status = agents.StatusCancelled
	case failed:
		r.Status = agents.StatusError
	}
	if o.Action == agents.ActionCommand && (r.Status == agents.StatusOK || r.Status == agents.StatusError) {
		r.ExitCode = i.ExitCode
	}
	if i.Type == "commandExecution" && i.Output != "" {
		c.Emit(agents.KindCommandOutput, agents.CommandOutput{ID: i.ID, Stream: "stdout", Text: i.Output})
	}
	c.Emit(agents.KindToolResult, r)
}

// patchUpdated handles a new version of an edit that is being written.
func (c *peer) patchUpdated(f frame, text []byte) {
	var n struct {
		ItemID  string          `json:"itemId"`
		Changes json.RawMessage `json:"changes"`
	}
	if cli.Decode(cli.Object(f.Params), &n) != nil || !c.Calls.Has(n.ItemID) || !c.edits.note(threadItem{Type: "fileChange", ID: n.ItemID, Changes: n.Changes}) {
		c.EmitUnknown(text)
	}
}
