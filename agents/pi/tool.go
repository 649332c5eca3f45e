package pi

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// askTool is the tool by which the model asks the user; it is the guard's.
const askTool = "ask_user"

var actions = map[string]agents.Action{
	"bash": agents.ActionCommand, "edit": agents.ActionEdit, "write": agents.ActionEdit, "read": agents.ActionRead,
	"grep": agents.ActionSearch, "find": agents.ActionSearch, "ls": agents.ActionSearch,
}

func actionOf(tool string) agents.Action {
	if a, ok := actions[tool]; ok {
		return a
	}
	if strings.HasPrefix(tool, "mcp__") { // mcp__server__tool
		return agents.ActionMCP
	}
	return agents.ActionOther
}

// target is what a tool's input says about what it touches.
type target struct {
	Command string `json:"command"`
	Path    string `json:"path"`
}

// readTarget reads an input; what it cannot read stays empty.
func readTarget(input json.RawMessage) (t target) {
	if cli.Decode(cli.Object(input), &t) != nil {
		return target{}
	}
	return t
}

// beginCall notes a call and tells of it.
func (c *peer) beginCall(f frame, text []byte) {
	action, command := actionOf(f.Tool), ""
	if action == agents.ActionCommand {
		command = readTarget(f.Input).Command
	}
	if !validID(f.CallID) || !c.Calls.Begin(f.CallID, action, command) {
		c.EmitUnknown(text)
		return
	}
	c.Emit(agents.KindToolCall, agents.ToolCall{ID: f.CallID, Tool: f.Tool, Action: action, Input: cli.Object(f.Input)})
}

// progress tells what a command has printed since the last time.
func (c *peer) progress(f frame) {
	if o := c.Calls.At(f.CallID); o != nil && o.Action == agents.ActionCommand {
		c.Printed(f.CallID, f.Partial.text())
	}
}

// exitPattern ends the result of a command that failed. What the CLI says of a
// long output stands before it.
var exitPattern = regexp.MustCompile(`(?:^|\n\n)Command exited with code (\d{1,3})$`)

// noOutput is the result of a command that printed nothing.
const noOutput = "(no output)"

// readCommandResult reads the result of a command: what it printed, and its exit
// code where the CLI says it. The last line of a failure is the CLI's, also when
// the command printed one like it.
func readCommandResult(text string, failed bool) (printed string, code *int) {
	if !failed {
		return strings.TrimSuffix(text, noOutput), new(int)
	}
	end := exitPattern.FindStringSubmatch(text)
	if end == nil {
		return "", nil
	}
	n, err := strconv.Atoi(end[1])
	if err != nil {
		return "", nil
	}
	return strings.TrimSuffix(strings.TrimSuffix(text, end[0]), noOutput), &n
}

// endCall turns a result into the call's result and, for a command, the rest of
// what it printed.
func (c *peer) endCall(f frame, text []byte) {
	o, known := c.Calls.Take(f.CallID)
	if !known {
		c.EmitUnknown(text)
		return
	}
	c.EndCall(o, agents.ToolResult{ID: f.CallID, Text: f.Result.text()}, f.IsError, readCommandResult)
}
