package agents

import (
	"encoding/json"
	"regexp"
	"strings"
)

// opencodeActions are the tools whose action their name says.
var opencodeActions = map[string]Action{
	"bash": ActionCommand,
	"edit": ActionEdit, "write": ActionEdit, "multiedit": ActionEdit, "apply_patch": ActionEdit, "patch": ActionEdit,
	"read": ActionRead, "list": ActionRead, "lsp": ActionRead, "skill": ActionRead,
	"glob": ActionSearch, "grep": ActionSearch,
	"webfetch": ActionWeb, "websearch": ActionWeb, "codesearch": ActionWeb,
	"task": ActionTask,
}

// opencodeUnsafe are the characters of a server's name that its tools have not.
var opencodeUnsafe = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// action is the action of a tool, or of a permission, which has the same names.
func (t *opencodeTurn) action(tool string) Action {
	if a, ok := opencodeActions[tool]; ok {
		return a
	}
	for _, s := range t.turn.MCP {
		if strings.HasPrefix(tool, opencodeUnsafe.ReplaceAllString(s.Name, "_")+"_") {
			return ActionMCP
		}
	}
	return ActionOther
}

// opencodeState is the state of a tool call.
type opencodeState struct {
	Status   string           `json:"status"` // pending, running, completed or error
	Input    json.RawMessage  `json:"input"`
	Output   string           `json:"output"`
	Error    string           `json:"error"`
	Metadata opencodeMetadata `json:"metadata"`
}

// opencodeMetadata is what a tool says about itself: bash its output so far and
// its exit code, which is null when there is none; task its session.
type opencodeMetadata struct {
	Output  string `json:"output"`
	Exit    *int   `json:"exit"`
	Session string `json:"sessionId"`
}

// opencodeInput is what an input says about what it touches.
type opencodeInput struct {
	Command string `json:"command"`
	File    string `json:"filePath"`
	Path    string `json:"path"`
}

func opencodeTarget(input json.RawMessage) (in opencodeInput) {
	if decode(object(input), &in) != nil {
		return opencodeInput{}
	}
	return in
}

// tool handles one state of a call. Its input is known once it runs.
func (t *opencodeTurn) tool(p opencodePart) bool {
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
func (t *opencodeTurn) beginTool(p opencodePart) bool {
	if t.calls.has(p.ID) || t.log.parts[p.ID] {
		return true
	}
	action := t.action(p.Tool)
	command := ""
	if action == ActionCommand {
		command = opencodeTarget(p.State.Input).Command
	}
	if !t.calls.begin(p.ID, action, command) {
		return false
	}
	input := object(p.State.Input)
	quiet := action == ActionCommand || action == ActionMCP
	ref := opencodeToolRef{Message: p.Message, Call: p.Call}
	t.log.open(p.ID, opencodeCall{tool: p.Tool, action: action, input: input, quiet: quiet, message: p.Message, key: ref.key()})
	if quiet {
		t.running.Add(1)
	}
	t.emit(KindToolCall, ToolCall{ID: p.ID, Tool: p.Tool, Action: action, Input: input, Parent: t.log.children[p.Session]})
	t.told(ref.key())
	return true
}

// opencodeDenials is how the CLI words that a call did not run because it was
// not allowed to: by a reply, by a rule, by a question that was not answered.
var opencodeDenials = []string{"The user rejected permission", "The user has specified a rule which prevents", "The user dismissed this question"}

// opencodeStopped is how it words that a call was stopped.
var opencodeStopped = []string{"Tool execution aborted", "User aborted the command"}

func (t *opencodeTurn) endTool(p opencodePart) {
	call, known := t.calls.take(p.ID)
	if !known {
		return
	}
	if c := t.log.calls[p.ID]; c != nil && c.quiet {
		t.running.Add(-1)
	}
	t.log.close(p.ID)
	t.release(false)
	s := p.State
	r := ToolResult{ID: p.ID, Status: StatusOK, Text: s.Output, Command: call.command}
	failed := s.Status == "error"
	if failed {
		r.Text = s.Error
	}
	command := call.action == ActionCommand
	switch {
	case failed && (call.denied || opencodeSays(s.Error, opencodeDenials)):
		r.Status = StatusDenied
	case failed && (t.stopping() || opencodeSays(s.Error, opencodeStopped)), command && s.Metadata.Exit == nil && (t.stopping() || opencodeSays(s.Output, opencodeStopped)):
		r.Status = StatusCancelled
	case failed, command && (s.Metadata.Exit == nil || *s.Metadata.Exit != 0):
		r.Status = StatusError
	}
	if command && !failed {
		r.ExitCode = s.Metadata.Exit
		if out := s.Metadata.Output; out != "" {
			t.emit(KindCommandOutput, CommandOutput{ID: p.ID, Stream: "stdout", Text: out})
		}
	}
	t.emit(KindToolResult, r)
}

func opencodeSays(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
