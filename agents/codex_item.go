package agents

import (
	"encoding/json"
	"strings"
)

// codexItem is one thing in a turn. Which fields it has depends on its type.
type codexItem struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Status string `json:"status"` // inProgress, completed, failed, declined
	// agentMessage, plan
	Text string `json:"text"`
	// reasoning
	Summary []string `json:"summary"`
	Content []string `json:"content"`
	// commandExecution
	Command  string `json:"command"`
	CWD      string `json:"cwd"`
	Output   string `json:"aggregatedOutput"`
	ExitCode *int   `json:"exitCode"`
	// fileChange
	Changes json.RawMessage `json:"changes"`
	// mcpToolCall, dynamicToolCall, collabAgentToolCall
	Server    string          `json:"server"`
	Namespace string          `json:"namespace"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Success   *bool           `json:"success"`
	Prompt    string          `json:"prompt"`
	Receivers []string        `json:"receiverThreadIds"`
	// webSearch, imageView
	Query string `json:"query"`
	Path  string `json:"path"`
}

// maxCodexThreads bounds the subagents whose words are assigned to a call.
const maxCodexThreads = 64

// item handles the start or the completion of an item.
func (c *codexTurn) item(f codexFrame, text []byte, done bool) {
	var n struct {
		ThreadID string          `json:"threadId"`
		Item     json.RawMessage `json:"item"`
	}
	var i codexItem
	if decode(object(f.Params), &n) != nil || decode(object(n.Item), &i) != nil {
		c.strange(text)
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
		c.emit(KindAssistantMessage, Message{Text: i.Text, Parent: parent})
		if n.ThreadID == c.thread {
			c.end.claim = i.Text
		}
	case "reasoning":
		said := strings.Join(i.Summary, "\n\n")
		if said == "" {
			said = strings.Join(i.Content, "\n\n")
		}
		if done && said != "" {
			c.emit(KindThinking, Message{Text: said, Parent: parent})
		}
	case "contextCompaction":
		if done {
			c.emit(KindSystemMessage, Message{Text: "the agent has summed up the conversation to save room", Parent: parent})
		}
	case "userMessage", "hookPrompt", "functionCallOutput", "subAgentActivity", "sleep", "enteredReviewMode", "exitedReviewMode":
		// The prompt is known, and the rest has notifications of its own.
	default:
		c.strange(text)
	}
}

// toolItem handles a call of a tool. Some have no start.
func (c *codexTurn) toolItem(i codexItem, parent string, text []byte, done bool) {
	if !c.calls.has(i.ID) && !c.beginItem(i, parent) || !done && !c.edits.note(i) {
		c.strange(text)
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
	if c.held && c.calls.count() == 0 {
		c.leaveNow()
	}
}

// beginItem notes a call; false when its id cannot be used.
func (c *codexTurn) beginItem(i codexItem, parent string) bool {
	tool, action, input := i.call()
	command := ""
	if action == ActionCommand {
		command = codexScript(i.Command)
	}
	if !c.calls.begin(i.ID, action, command) {
		return false
	}
	if action == ActionMCP {
		c.mcp[tool] = i.ID
	}
	c.emit(KindToolCall, ToolCall{ID: i.ID, Tool: tool, Action: action, Input: input, Parent: parent})
	return true
}

// adopt remembers which call made a subagent.
func (c *codexTurn) adopt(i codexItem) {
	for _, thread := range i.Receivers {
		if thread != c.thread && c.parents[thread] == "" && len(c.parents) < maxCodexThreads {
			c.parents[thread] = i.ID
		}
	}
}

// parent is the call whose subagent has a thread, "" for the turn's own.
func (c *codexTurn) parent(thread string) string {
	switch call := c.parents[thread]; {
	case thread == c.thread:
		return ""
	case call != "":
		return call
	}
	return thread
}

// finishItem gives a call its result.
func (c *codexTurn) finishItem(i codexItem) {
	o, known := c.calls.take(i.ID)
	if !known {
		return
	}
	defer delete(c.reasons, i.ID)
	if tool := codexMCPTool(i.Server, i.Tool); c.mcp[tool] == i.ID {
		delete(c.mcp, tool)
	}
	r := ToolResult{ID: i.ID, Status: StatusOK, Text: i.told(), Command: o.command}
	failed := i.Status == "failed" || i.Success != nil && !*i.Success
	switch {
	case i.Status == "declined" && c.stopping():
		r.Status = StatusCancelled
	case i.Status == "declined", failed && o.denied:
		r.Status, r.Text = StatusDenied, c.reasons[i.ID]
	case failed && (c.stopping() || c.cleaned), i.Status == "inProgress", i.Status == "interrupted":
		r.Status = StatusCancelled
	case failed:
		r.Status = StatusError
	}
	if o.action == ActionCommand && (r.Status == StatusOK || r.Status == StatusError) {
		r.ExitCode = i.ExitCode
	}
	if i.Type == "commandExecution" && i.Output != "" {
		c.emit(KindCommandOutput, CommandOutput{ID: i.ID, Stream: "stdout", Text: i.Output})
	}
	c.emit(KindToolResult, r)
}
