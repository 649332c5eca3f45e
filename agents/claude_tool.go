package agents

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// claudeActions are the tools whose action their name does not say.
var claudeActions = map[string]Action{
	"Bash": ActionCommand, "Monitor": ActionCommand,
	"Edit": ActionEdit, "Write": ActionEdit, "MultiEdit": ActionEdit, "NotebookEdit": ActionEdit,
	"Read": ActionRead, "NotebookRead": ActionRead,
	"Glob": ActionSearch, "Grep": ActionSearch, "LS": ActionSearch, "ToolSearch": ActionSearch,
	"WebFetch": ActionWeb, "WebSearch": ActionWeb,
	"Task": ActionTask, "Agent": ActionTask, "SendMessage": ActionTask, "Workflow": ActionTask,
}

func claudeAction(tool string) Action {
	if a, ok := claudeActions[tool]; ok {
		return a
	}
	if strings.HasPrefix(tool, "mcp__") {
		return ActionMCP
	}
	return ActionOther
}

// beginTool notes a call of the model; false when its id cannot be used.
func (c *claudeTurn) beginTool(b claudeBlock) bool {
	action, command := claudeAction(b.Name), ""
	if action == ActionCommand {
		command = claudeTarget(b.Input).Command
	}
	return c.calls.begin(b.ID, action, command)
}

// claudeTool is what a tool's input says about what it touches.
type claudeTool struct {
	Command  string `json:"command"`
	File     string `json:"file_path"`
	Notebook string `json:"notebook_path"`
	Path     string `json:"path"`
}

// claudeTarget reads an input; what it cannot read stays empty.
func claudeTarget(input json.RawMessage) (t claudeTool) {
	if decode(object(input), &t) != nil {
		return claudeTool{}
	}
	return t
}

func (t claudeTool) paths() []string {
	return slices.DeleteFunc([]string{t.File, t.Notebook, t.Path}, func(p string) bool { return p == "" })
}

// claudeOutput is the structured result of Bash.
type claudeOutput struct {
	Stdout      string `json:"stdout"`
	Stderr      string `json:"stderr"`
	Interrupted bool   `json:"interrupted"`
	// Meaning is set when the CLI takes an exit code other than 0 for no error,
	// as with grep, and then does not say which.
	Meaning    string `json:"returnCodeInterpretation"`
	Background string `json:"backgroundTaskId"`
}

// claudeExit is how a failed command's result starts.
var claudeExit = regexp.MustCompile(`^Exit code (\d{1,3})(?:\n|$)`)

// finishTool turns a tool_result block into the call's result and, for a
// command, what it printed. The structured result belongs to the frame's only block.
func (c *claudeTurn) finishTool(b claudeBlock, f claudeFrame) (r ToolResult, out []CommandOutput, known bool) {
	call, known := c.calls.take(b.ToolUseID)
	if !known {
		return r, nil, false
	}
	denied := call.denied || claudeRejected(f, b.ToolUseID)
	r = ToolResult{ID: b.ToolUseID, Status: StatusOK, Text: claudeText(b.Content), Command: call.command}
	var o claudeOutput
	structured := call.action == ActionCommand && len(f.ToolUseResult) > 0 && f.ToolUseResult[0] == '{' && decode(f.ToolUseResult, &o) == nil
	switch {
	case b.IsError && c.stopping(), o.Interrupted:
		r.Status = StatusCancelled
	case b.IsError && denied:
		r.Status = StatusDenied
	case b.IsError:
		r.Status = StatusError
	}
	switch m := claudeExit.FindStringSubmatch(r.Text); {
	case call.action != ActionCommand || r.Status == StatusCancelled || r.Status == StatusDenied:
	case m != nil && b.IsError:
		if code, err := strconv.Atoi(m[1]); err == nil {
			r.ExitCode = &code
		}
		o = claudeOutput{Stdout: r.Text[len(m[0]):]}
	case structured && !b.IsError && o.Meaning == "" && o.Background == "":
		r.ExitCode = new(int)
	}
	for _, s := range []CommandOutput{{b.ToolUseID, "stdout", o.Stdout}, {b.ToolUseID, "stderr", o.Stderr}} {
		if s.Text != "" {
			out = append(out, s)
		}
	}
	return r, out, true
}

// claudeRejected says whether the CLI itself denied the call.
func claudeRejected(f claudeFrame, id string) bool {
	return slices.ContainsFunc(f.ToolResultMeta, func(m claudeMeta) bool {
		return m.ID == id && m.Decision.Decision == "reject"
	})
}
