package droid

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// actions are the tools whose action their name does not say.
var actions = map[string]agents.Action{
	"Execute": agents.ActionCommand,
	"Create":  agents.ActionEdit, "Edit": agents.ActionEdit, "MultiEdit": agents.ActionEdit, "ApplyPatch": agents.ActionEdit,
	"Read": agents.ActionRead,
	"LS":   agents.ActionSearch, "Glob": agents.ActionSearch, "Grep": agents.ActionSearch, "ToolSearch": agents.ActionSearch,
	"FetchUrl": agents.ActionWeb, "WebSearch": agents.ActionWeb,
	"Task": agents.ActionTask, "TaskOutput": agents.ActionTask, "TaskStop": agents.ActionTask,
}

func actionOf(tool string) agents.Action {
	if a, ok := actions[tool]; ok {
		return a
	}
	if strings.Contains(tool, "___") { // server___tool
		return agents.ActionMCP
	}
	return agents.ActionOther
}

// maxCalls bounds the calls of one turn.
const maxCalls = 1 << 16

// target is what a tool's input says about what it touches.
type target struct {
	Command   string `json:"command"`
	File      string `json:"file_path"`
	Directory string `json:"directory_path"`
	Path      string `json:"path"`
	Folder    string `json:"folder"`
}

// readTarget reads an input; what it cannot read stays empty.
func readTarget(input json.RawMessage) (t target) {
	if cli.Decode(cli.Object(input), &t) != nil {
		return target{}
	}
	return t
}

func (t target) paths() []string {
	return slices.DeleteFunc([]string{t.File, t.Directory, t.Path, t.Folder}, func(p string) bool { return p == "" })
}

// announce keeps a call that is not in a message yet. The CLI tells of it twice,
// with an empty input and with the whole.
func (c *peer) announce(u callMethod) {
	if validID(u.ID) && !c.begun[u.ID] && len(c.pending) < cli.MaxOpenCalls {
		c.pending[u.ID] = u
	}
}

// beginCall notes a call of the model and tells of it; false when its id cannot
// be used.
func (c *peer) beginCall(u callMethod) bool {
	delete(c.pending, u.ID)
	if c.begun[u.ID] || len(c.begun) >= maxCalls || !validID(u.ID) {
		return false
	}
	action, command := actionOf(u.Name), ""
	if action == agents.ActionCommand {
		command = readTarget(u.Input).Command
	}
	if !c.Calls.Begin(u.ID, action, command) {
		return false
	}
	c.begun[u.ID] = true
	c.Emit(agents.KindToolCall, agents.ToolCall{ID: u.ID, Tool: u.Name, Action: action, Input: cli.Object(u.Input)})
	return true
}

// known says whether a call is open, and begins one that was only announced.
func (c *peer) known(id string) bool {
	if u, ok := c.pending[id]; ok {
		c.beginCall(u)
	}
	return c.Calls.Has(id)
}

// phase watches for a tool that begins without having been asked for. It is
// asked for now; see late.
func (c *peer) phase(ctx context.Context, n notification) {
	if n.Phase != "executing" || c.autonomy != autonomyOff || !c.known(n.ToolUseID) || c.approved[n.ToolUseID] {
		return
	}
	o := c.Calls.At(n.ToolUseID)
	if o.Action != agents.ActionCommand && o.Action != agents.ActionEdit && o.Action != agents.ActionMCP {
		return
	}
	c.late(ctx, n, o)
}

// progress tells what a command has printed since the last time.
func (c *peer) progress(n notification) {
	if c.known(n.ToolUseID) {
		c.Printed(n.ToolUseID, n.Update.Output)
	}
}

var (
	// exitPattern ends the result of every command that has ended.
	exitPattern = regexp.MustCompile(`\n?\n?\[Process exited with code (\d{1,3})\]$`)
	// exitErrorPattern starts it as well, where the code is not 0.
	exitErrorPattern = regexp.MustCompile(`^Error: Command failed \(exit code: (\d{1,3})\)\n`)
)

// noOutput is the result of a command that printed nothing.
const noOutput = "Command completed successfully"

// readCommandResult reads the result of a command: what it printed, and its exit
// code where the CLI says it. The last line is the CLI's, also when the command
// printed one like it; a failure has to say the same code twice.
func readCommandResult(text string, failed bool) (printed string, code *int) {
	end := exitPattern.FindStringSubmatch(text)
	start := exitErrorPattern.FindStringSubmatch(text)
	if end == nil {
		return "", nil
	}
	printed = strings.TrimSuffix(text, end[0])
	if !failed {
		if strings.TrimSpace(printed) == noOutput {
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
func (c *peer) toolResult(n notification, text []byte) {
	if !c.known(n.ToolUseID) {
		c.EmitUnknown(text)
		return
	}
	o, _ := c.Calls.Take(n.ToolUseID)
	r, failed := agents.ToolResult{ID: n.ToolUseID, Text: plainText(n.Content)}, n.IsError
	if n.ToolUseID == c.plan {
		r.Text, failed = "", false // the plan is the turn's closing words
	}
	c.EndCall(o, r, failed, readCommandResult)
}

// late asks the host about a call that has begun already.
func (c *peer) late(ctx context.Context, n notification, o *cli.Call) {
	c.Emit(agents.KindSystemMessage, agents.Message{Text: fmt.Sprintf("the agent began %s without asking", n.ToolName)})
	input, err := json.Marshal(map[string]string{"command": o.Command})
	if err != nil || o.Command == "" {
		input = []byte("{}") // strings always marshal
	}
	r := agents.ApprovalRequest{ID: latePrefix + n.ToolUseID, ToolID: n.ToolUseID, Tool: n.ToolName, Action: o.Action, Command: o.Command, Input: input}
	if refused := c.Ask(ctx, r.ID, r); refused != "" {
		c.unasked(r, refused)
	}
}
