package agents

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// droidActions are the tools whose action their name does not say.
var droidActions = map[string]Action{
	"Execute": ActionCommand,
	"Create":  ActionEdit, "Edit": ActionEdit, "MultiEdit": ActionEdit, "ApplyPatch": ActionEdit,
	"Read": ActionRead,
	"LS":   ActionSearch, "Glob": ActionSearch, "Grep": ActionSearch, "ToolSearch": ActionSearch,
	"FetchUrl": ActionWeb, "WebSearch": ActionWeb,
	"Task": ActionTask, "TaskOutput": ActionTask, "TaskStop": ActionTask,
}

func droidAction(tool string) Action {
	if a, ok := droidActions[tool]; ok {
		return a
	}
	if strings.Contains(tool, "___") { // server___tool
		return ActionMCP
	}
	return ActionOther
}

const (
	// droidMaxBegun bounds the calls of one turn.
	droidMaxBegun = 1 << 16
	// droidMaxPrinted bounds what is remembered of a command's output, in bytes.
	droidMaxPrinted = 1 << 20
)

// droidTarget is what a tool's input says about what it touches.
type droidTarget struct {
	Command   string `json:"command"`
	File      string `json:"file_path"`
	Directory string `json:"directory_path"`
	Path      string `json:"path"`
	Folder    string `json:"folder"`
}

// droidTouched reads an input; what it cannot read stays empty.
func droidTouched(input json.RawMessage) (t droidTarget) {
	if decode(object(input), &t) != nil {
		return droidTarget{}
	}
	return t
}

func (t droidTarget) paths() []string {
	return slices.DeleteFunc([]string{t.File, t.Directory, t.Path, t.Folder}, func(p string) bool { return p == "" })
}

// announce keeps a call that is not in a message yet. The CLI tells of it twice,
// with an empty input and with the whole.
func (c *droidTurn) announce(u droidCall) {
	if droidNamed(u.ID) && !c.begun[u.ID] && len(c.pending) < maxOpenCalls {
		c.pending[u.ID] = u
	}
}

// beginCall notes a call of the model and tells of it; false when its id cannot
// be used.
func (c *droidTurn) beginCall(u droidCall) bool {
	delete(c.pending, u.ID)
	if c.begun[u.ID] || len(c.begun) >= droidMaxBegun || !droidNamed(u.ID) {
		return false
	}
	action, command := droidAction(u.Name), ""
	if action == ActionCommand {
		command = droidTouched(u.Input).Command
	}
	if !c.calls.begin(u.ID, action, command) {
		return false
	}
	c.begun[u.ID] = true
	c.emit(KindToolCall, ToolCall{ID: u.ID, Tool: u.Name, Action: action, Input: object(u.Input)})
	return true
}

// known says whether a call is open, and begins one that was only announced.
func (c *droidTurn) known(id string) bool {
	if u, ok := c.pending[id]; ok {
		c.beginCall(u)
	}
	return c.calls.has(id)
}

// phase watches for a tool that begins without having been asked for. It is
// asked for now; see late.
func (c *droidTurn) phase(ctx context.Context, n droidNote) {
	if n.Phase != "executing" || c.autonomy != droidAsksAll || !c.known(n.ToolUseID) || c.approved[n.ToolUseID] {
		return
	}
	o := c.calls.open[n.ToolUseID]
	if o.action != ActionCommand && o.action != ActionEdit && o.action != ActionMCP {
		return
	}
	c.late(ctx, n, o)
}

// progress tells what a command has printed since the last time.
func (c *droidTurn) progress(n droidNote) {
	before := c.printed[n.ToolUseID]
	now := n.Update.Output
	if !c.known(n.ToolUseID) || len(now) > droidMaxPrinted || len(now) <= len(before) || !strings.HasPrefix(now, before) {
		return
	}
	c.printed[n.ToolUseID] = now
	c.emit(KindCommandOutput, CommandOutput{ID: n.ToolUseID, Stream: "stdout", Text: now[len(before):]})
}

var (
	// droidExit ends the result of every command that has ended.
	droidExit = regexp.MustCompile(`\n?\n?\[Process exited with code (\d{1,3})\]$`)
	// droidExitError starts it as well, where the code is not 0.
	droidExitError = regexp.MustCompile(`^Error: Command failed \(exit code: (\d{1,3})\)\n`)
)

// droidSilence is the result of a command that printed nothing.
const droidSilence = "Command completed successfully"

// droidCommand reads the result of a command: what it printed, and its exit
// code where the CLI says it. The last line is the CLI's, also when the command
// printed one like it; a failure has to say the same code twice.
func droidCommand(text string, failed bool) (printed string, code *int) {
	end := droidExit.FindStringSubmatch(text)
	start := droidExitError.FindStringSubmatch(text)
	if end == nil {
		return "", nil
	}
	printed = strings.TrimSuffix(text, end[0])
	if !failed {
		if strings.TrimSpace(printed) == droidSilence {
			printed = ""
		}
		if end[1] != "0" {
			return printed, nil
		}
		return printed, new(int)
	}
	if start == nil || start[1] != end[1] {
		return "", nil
	}
	n, err := strconv.Atoi(end[1])
	if err != nil {
		return "", nil
	}
	return strings.TrimPrefix(printed, start[0]), &n
}

// toolResult turns a result into the call's result and, for a command, the rest
// of what it printed.
func (c *droidTurn) toolResult(n droidNote, text []byte) {
	if !c.known(n.ToolUseID) {
		c.strange(text)
		return
	}
	o, _ := c.calls.take(n.ToolUseID)
	r := ToolResult{ID: n.ToolUseID, Status: StatusOK, Text: droidText(n.Content), Command: o.command}
	switch {
	case n.ToolUseID == c.plan:
		r.Text = "" // the plan is the turn's closing words
	case n.IsError && c.stopping():
		r.Status = StatusCancelled
	case n.IsError && o.denied:
		r.Status = StatusDenied
	case n.IsError:
		r.Status = StatusError
	}
	before := c.printed[n.ToolUseID]
	delete(c.printed, n.ToolUseID)
	if o.action == ActionCommand && (r.Status == StatusOK || r.Status == StatusError) {
		printed, code := droidCommand(r.Text, n.IsError)
		r.ExitCode = code
		if rest, ok := strings.CutPrefix(printed, before); ok && rest != "" {
			c.emit(KindCommandOutput, CommandOutput{ID: n.ToolUseID, Stream: "stdout", Text: rest})
		}
	}
	c.emit(KindToolResult, r)
}
