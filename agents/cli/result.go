package cli

import (
	"strings"

	"sandboxrun/agents"
)

// maxPrinted bounds what a command has printed that is compared with what comes next, in bytes.
const maxPrinted = 1 << 20

// Printed emits what an open command has printed since the last time. now is all that it has printed so far.
func (c *Conversation) Printed(id, now string) {
	before := c.printed[id]
	if len(now) > maxPrinted || len(now) <= len(before) || !strings.HasPrefix(now, before) {
		return
	}
	if c.printed == nil {
		c.printed = map[string]string{}
	}
	c.printed[id] = now
	c.Emit(agents.KindCommandOutput, agents.CommandOutput{ID: id, Stream: "stdout", Text: now[len(before):]})
}

// EndCall emits the result r of a call, whose status it sets, and before it, of a command that ran, the rest of what it
// printed. read takes the text of the result apart: what the command printed, and its exit code, nil where the CLI does
// not say it.
func (c *Conversation) EndCall(o Call, r agents.ToolResult, failed bool, read func(text string, failed bool) (printed string, code *int)) {
	r.Status, r.Command = agents.StatusOK, o.Command
	switch {
	case failed && c.Stopping():
		r.Status = agents.StatusCancelled
	case failed && o.Denied:
		r.Status = agents.StatusDenied
	case failed:
		r.Status = agents.StatusError
	}
	before := c.printed[r.ID]
	delete(c.printed, r.ID)
	if o.Action == agents.ActionCommand && (r.Status == agents.StatusOK || r.Status == agents.StatusError) {
		printed, code := read(r.Text, failed)
		r.ExitCode = code
		if rest, ok := strings.CutPrefix(printed, before); ok && rest != "" {
			c.Emit(agents.KindCommandOutput, agents.CommandOutput{ID: r.ID, Stream: "stdout", Text: rest})
		}
	}
	c.Emit(agents.KindToolResult, r)
}
