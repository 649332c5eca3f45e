package opencode

import (
	"encoding/json"
	"regexp"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// actions are the tools whose action their name says.
var actions = map[string]agents.Action{
	"bash": agents.ActionCommand,
	"edit": agents.ActionEdit, "write": agents.ActionEdit, "multiedit": agents.ActionEdit, "apply_patch": agents.ActionEdit, "patch": agents.ActionEdit,
	"read": agents.ActionRead, "list": agents.ActionRead, "lsp": agents.ActionRead, "skill": agents.ActionRead,
	"glob": agents.ActionSearch, "grep": agents.ActionSearch,
	"webfetch": agents.ActionWeb, "websearch": agents.ActionWeb, "codesearch": agents.ActionWeb,
	"task": agents.ActionTask,
}

// unsafeCharacters are the characters of a server's name that its tools have not.
var unsafeCharacters = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// action is the action of a tool, or of a permission, which has the same names.
func (t *peer) action(tool string) agents.Action {
	if a, ok := actions[tool]; ok {
		return a
	}
	for _, s := range t.Turn.MCP {
		if strings.HasPrefix(tool, unsafeCharacters.ReplaceAllString(s.Name, "_")+"_") {
			return agents.ActionMCP
		}
	}
	return agents.ActionOther
}

// toolState is the state of a tool call.
type toolState struct {
	Status   string          `json:"status"` // pending, running, completed or error
	Input    json.RawMessage `json:"input"`
	Output   string          `json:"output"`
	Error    string          `json:"error"`
	Metadata toolMetadata    `json:"metadata"`
}

// toolMetadata is what a tool says about itself: bash its output so far and
// its exit code, which is null when there is none; task its session.
type toolMetadata struct {
	Output  string `json:"output"`
	Exit    *int   `json:"exit"`
	Session string `json:"sessionId"`
}

// target is what an input says about what it touches.
type target struct {
	Command string `json:"command"`
	File    string `json:"filePath"`
	Path    string `json:"path"`
}

func readTarget(input json.RawMessage) (in target) {
	if cli.Decode(cli.Object(input), &in) != nil {
		return target{}
	}
	return in
}

// tool handles one state of a call. Its input is known once it runs.
func (t *peer) tool(p messagePart) bool {
	switch p.State.Status {
	case "pending":
		return true
	case "running":
		if !t.beginTool(p) {
			return false
		}
		if s := p.State.Metadata.Session; s != "" && p.Tool == "task" {
			t.log.child(s, p.ID)
		}
		return true
	case "completed", "error":
		if t.log.parts[p.ID] {
			return true // told again, as when its output is dropped from the context
		}
		if !t.beginTool(p) {
			return false
		}
		t.endTool(p)
		return t.log.done(p.ID)
	}
	return false
}

// beginTool tells of a call, once; false when it cannot be told.
func (t *peer) beginTool(p messagePart) bool {
	if t.Calls.Has(p.ID) || t.log.parts[p.ID] {
		return true
	}
	action := t.action(p.Tool)
	command := ""
	if action == agents.ActionCommand {
		command = readTarget(p.State.Input).Command
	}
	if !t.Calls.Begin(p.ID, action, command) {
		return false
	}
	input := cli.Object(p.State.Input)
	quiet := action == agents.ActionCommand || action == agents.ActionMCP
	ref := toolRef{Message: p.Message, Call: p.Call}
	t.log.open(p.ID, toolCall{tool: p.Tool, action: action, input: input, quiet: quiet, message: p.Message, key: ref.key()})
	if quiet {
		t.busyCalls.Add(1)
	}
	t.Emit(agents.KindToolCall, agents.ToolCall{ID: p.ID, Tool: p.Tool, Action: action, Input: input, Parent: t.log.children[p.Session]})
	t.told(ref.key())
	return true
}

// denialWords is how the CLI words that a call did not run because it was
// not allowed to: by a reply, by a rule, by a question that was not answered.
var denialWords = []string{"The user rejected permission", "The user has specified a rule which prevents", "The user dismissed this question"}

// stopWords is how it words that a call was stopped.
var stopWords = []string{"Tool execution aborted", "User aborted the command"}

func (t *peer) endTool(p messagePart) {
	call, known := t.Calls.Take(p.ID)
	if !known {
		return
	}
	if c := t.log.calls[p.ID]; c != nil && c.quiet {
		t.busyCalls.Add(-1)
	}
	t.log.close(p.ID)
	t.release(false)
	s := p.State
	r := agents.ToolResult{ID: p.ID, Status: agents.StatusOK, Text: s.Output, Command: call.Command}
	failed := s.Status == "error"
	if failed {
		r.Text = s.Error
	}
	command := call.Action == agents.ActionCommand
	switch {
	case failed && (call.Denied || saysAny(s.Error, denialWords)):
		r.Status = agents.StatusDenied
	case failed && (t.Stopping() || saysAny(s.Error, stopWords)), command && s.Metadata.Exit == nil && (t.Stopping() || saysAny(s.Output, stopWords)):
		r.Status = agents.StatusCancelled
	case failed, command && (s.Metadata.Exit == nil || *s.Metadata.Exit != 0):
		r.Status = agents.StatusError
	}
	if command && !failed {
		r.ExitCode = s.Metadata.Exit
		if out := s.Metadata.Output; out != "" {
			t.Emit(agents.KindCommandOutput, agents.CommandOutput{ID: p.ID, Stream: "stdout", Text: out})
		}
	}
	t.Emit(agents.KindToolResult, r)
}

func saysAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
