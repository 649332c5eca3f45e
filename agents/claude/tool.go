package claude

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// actions are the tools whose action their name does not say.
var actions = map[string]agents.Action{
	"Bash": agents.ActionCommand, "Monitor": agents.ActionCommand,
	"Edit": agents.ActionEdit, "Write": agents.ActionEdit, "MultiEdit": agents.ActionEdit, "NotebookEdit": agents.ActionEdit,
	"Read": agents.ActionRead, "NotebookRead": agents.ActionRead,
	"Glob": agents.ActionSearch, "Grep": agents.ActionSearch, "LS": agents.ActionSearch, "ToolSearch": agents.ActionSearch,
	"WebFetch": agents.ActionWeb, "WebSearch": agents.ActionWeb,
	"Task": agents.ActionTask, "Agent": agents.ActionTask, "SendMessage": agents.ActionTask, "Workflow": agents.ActionTask,
}

func actionOf(tool string) agents.Action {
	if a, ok := actions[tool]; ok {
		return a
	}
	if strings.HasPrefix(tool, "mcp__") {
		return agents.ActionMCP
	}
	return agents.ActionOther
}

// beginTool notes a call of the model; false when its id cannot be used.
func (c *peer) beginTool(b block) bool {
	action, command := actionOf(b.Name), ""
	if action == agents.ActionCommand {
		command = readTarget(b.Input).Command
	}
	return c.Calls.Begin(b.ID, action, command)
}

// target is what a tool's input says about what it touches.
type target struct {
	Command  string `json:"command"`
	File     string `json:"file_path"`
	Notebook string `json:"notebook_path"`
	Path     string `json:"path"`
}

// readTarget reads an input; what it cannot read stays empty.
func readTarget(input json.RawMessage) (t target) {
	if cli.Decode(cli.Object(input), &t) != nil {
		return target{}
	}
	return t
}

func (t target) paths() []string {
	return slices.DeleteFunc([]string{t.File, t.Notebook, t.Path}, func(p string) bool { return p == "" })
}

// bashOutput is the structured result of Bash.
type bashOutput struct {
	Stdout      string `json:"stdout"`
	Stderr      string `json:"stderr"`
	Interrupted bool   `json:"interrupted"`
	// Meaning is set when the CLI takes an exit code other than 0 for no error,
	// as with grep, and then does not say which.
	Meaning    string `json:"returnCodeInterpretation"`
	Background string `json:"backgroundTaskId"`
}

// exitPattern is how a failed command's result starts.
var exitPattern = regexp.MustCompile(`^Exit code (\d{1,3})(?:\n|$)`)

// finishTool turns a tool_result block into the call's result and, for a
// command, what it printed. The structured result belongs to the frame's only block.
func (c *peer) finishTool(b block, f frame) (r agents.ToolResult, out []agents.CommandOutput, known bool) {
	call, known := c.Calls.Take(b.ToolUseID)
	if !known {
		return r, nil, false
	}
	denied := call.Denied || rejected(f, b.ToolUseID)
	r = agents.ToolResult{ID: b.ToolUseID, Status: agents.StatusOK, Text: plainText(b.Content), Command: call.Command}
	var o bashOutput
	structured := call.Action == agents.ActionCommand && len(f.ToolUseResult) > 0 && f.ToolUseResult[0] == '{' && cli.Decode(f.ToolUseResult, &o) == nil
	switch {
	case b.IsError && c.Stopping(), o.Interrupted:
		r.Status = agents.StatusCancelled
	case b.IsError && denied:
		r.Status = agents.StatusDenied
	case b.IsError:
		r.Status = agents.StatusError
	}
	switch m := exitPattern.FindStringSubmatch(r.Text); {
	case call.Action != agents.ActionCommand || r.Status == agents.StatusCancelled || r.Status == agents.StatusDenied:
	case m != nil && b.IsError:
		if code, err := strconv.Atoi(m[1]); err == nil {
			r.ExitCode = &code
		}
		o = bashOutput{Stdout: r.Text[len(m[0]):]}
	case structured && !b.IsError && o.Meaning == "" && o.Background == "":
		r.ExitCode = new(int)
	}
	for _, s := range []agents.CommandOutput{{ID: b.ToolUseID, Stream: "stdout", Text: o.Stdout}, {ID: b.ToolUseID, Stream: "stderr", Text: o.Stderr}} {
		if s.Text != "" {
			out = append(out, s)
		}
	}
	return r, out, true
}

// rejected says whether the CLI itself denied the call.
func rejected(f frame, id string) bool {
	return slices.ContainsFunc(f.ToolResultMeta, func(m toolMeta) bool {
		return m.ID == id && m.Decision.Decision == "reject"
	})
}
