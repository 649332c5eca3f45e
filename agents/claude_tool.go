package agents

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxOpenTools bounds the calls that are remembered until their result.
const maxOpenTools = 1024

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

func claudeInput(b claudeBlock) json.RawMessage {
	if len(b.Input) == 0 {
		return json.RawMessage("{}")
	}
	return b.Input
}

// claudeTools joins calls with their results. The zero value is ready.
type claudeTools struct {
	open   map[string]claudeCall
	denied map[string]bool // of open calls
}

type claudeCall struct {
	action  Action
	command string
}

// begin notes a call; false means that its id cannot be used: it is empty, in
// use, or one too many.
func (t *claudeTools) begin(b claudeBlock) bool {
	if t.open == nil {
		t.open, t.denied = map[string]claudeCall{}, map[string]bool{}
	}
	if _, used := t.open[b.ID]; used || b.ID == "" || len(t.open) >= maxOpenTools {
		return false
	}
	call := claudeCall{action: claudeAction(b.Name)}
	if call.action == ActionCommand {
		var in struct {
			Command string `json:"command"`
		}
		if decode(claudeInput(b), &in) == nil {
			call.command = in.Command
		}
	}
	t.open[b.ID] = call
	return true
}

// deny marks an open call as denied.
func (t *claudeTools) deny(id string) {
	if _, ok := t.open[id]; ok {
		t.denied[id] = true
	}
}

func (t *claudeTools) count() int { return len(t.open) }

// unanswered lists the calls without a result, sorted by id.
func (t *claudeTools) unanswered() []string { return slices.Sorted(maps.Keys(t.open)) }

// cancel gives a call the result of a turn that ended before it did.
func (t *claudeTools) cancel(id string) ToolResult {
	call := t.open[id]
	delete(t.open, id)
	delete(t.denied, id)
	return ToolResult{ID: id, Status: StatusCancelled, Command: call.command}
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

// finish turns a tool_result block into the call's result and, for a command,
// what it printed. The structured result belongs to the frame's only block.
func (t *claudeTools) finish(b claudeBlock, f claudeFrame, stopping bool) (r ToolResult, out []CommandOutput, known bool) {
	call, known := t.open[b.ToolUseID]
	if !known {
		return r, nil, false
	}
	denied := t.denied[b.ToolUseID] || claudeRejected(f, b.ToolUseID)
	delete(t.open, b.ToolUseID)
	delete(t.denied, b.ToolUseID)

	r = ToolResult{ID: b.ToolUseID, Status: StatusOK, Text: claudeText(b.Content), Command: call.command}
	var o claudeOutput
	structured := call.action == ActionCommand && len(f.ToolUseResult) > 0 && f.ToolUseResult[0] == '{' && decode(f.ToolUseResult, &o) == nil
	switch {
	case b.IsError && stopping, o.Interrupted:
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
