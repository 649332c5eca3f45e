package acp

import (
	"encoding/json"
	"regexp"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"

	acp "github.com/coder/acp-go-sdk"
)

// toolOutput is what the outputs of tools usually hold.
type toolOutput struct {
	ExitCode *int   `json:"exitCode"`
	Output   string `json:"output"`
	Content  string `json:"content"`
	Message  string `json:"message"`
	Error    string `json:"error"`
	Contents []struct {
		Type     string `json:"type"`
		ExitCode *int   `json:"exitCode"`
	} `json:"contents"`
}

// shellEndPattern is a line that tells the model how a command ended, after its output.
var shellEndPattern = regexp.MustCompile(`\n?<shellId: \S+ completed with exit code -?\d+>\s*$`)

// result turns the last update of a call into its result.
func (a *peer) result(u sessionUpdate) {
	call, known := a.Calls.Take(u.CallID)
	if !known {
		return
	}
	a.forget(u.CallID, false)
	var out toolOutput
	if cli.Decode(u.Output, &out) != nil {
		out = toolOutput{}
	}
	r := agents.ToolResult{ID: u.CallID, Status: agents.StatusOK, Text: resultText(u, out), Command: call.Command}
	failed := u.Status == string(acp.ToolCallStatusFailed)
	if call.Action == agents.ActionCommand {
		code, printed := out.command(u)
		if m := a.quirks.failedWith(printed); failed && m != nil {
			code = m
		}
		r.ExitCode = code
		failed = failed || code != nil && *code != 0
		if printed != "" {
			a.Emit(agents.KindCommandOutput, agents.CommandOutput{ID: u.CallID, Stream: "stdout", Text: printed})
		}
	}
	switch {
	case a.Stopping() && r.ExitCode == nil:
		// Some call a command complete that was cancelled.
		r.Status = agents.StatusCancelled
	case failed && call.Denied && r.ExitCode == nil:
		r.Status = agents.StatusDenied
	case failed:
		r.Status = agents.StatusError
	}
	a.Emit(agents.KindToolResult, r)
}

// command reads how a command ended and what it printed, both streams as one.
func (o toolOutput) command(u sessionUpdate) (code *int, printed string) {
	code = o.ExitCode
	for _, c := range o.Contents {
		if c.Type == "shell_exit" && c.ExitCode != nil {
			code = c.ExitCode
		}
	}
	if o.Output != "" || o.ExitCode != nil {
		return code, o.Output
	}
	return code, shellEndPattern.ReplaceAllString(u.said(), "")
}

// resultText is what the model was told, as far as the agent says it.
func resultText(u sessionUpdate, o toolOutput) string {
	for _, s := range []string{u.said(), o.Content, o.Output, o.Message, o.Error} {
		if s != "" {
			return s
		}
	}
	var plain string
	if json.Unmarshal(u.Output, &plain) == nil {
		return plain
	}
	return ""
}

// refuse gives a call the result of a denial at once. Some agents never do, and
// what others say of it adds nothing.
func (a *peer) refuse(id, reason string) {
	call, known := a.Calls.Take(id)
	if !known {
		return
	}
	a.forget(id, true)
	a.Emit(agents.KindToolResult, agents.ToolResult{ID: id, Status: agents.StatusDenied, Text: reason, Command: call.Command})
}

// forget notes that a call has its result.
func (a *peer) forget(id string, denied bool) {
	delete(a.tools, id)
	a.over[id] = denied
}
