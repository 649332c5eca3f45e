package agents

import (
	"encoding/json"
	"regexp"

	acp "github.com/coder/acp-go-sdk"
)

// acpOutput is what the outputs of tools usually hold.
type acpOutput struct {
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

// acpShellEnd is a line that tells the model how a command ended, after its output.
var acpShellEnd = regexp.MustCompile(`\n?<shellId: \S+ completed with exit code -?\d+>\s*$`)

// result turns the last update of a call into its result.
func (a *acpTurn) result(u acpUpdate) {
	call, known := a.calls.take(u.CallID)
	if !known {
		return
	}
	a.forget(u.CallID, false)
	var out acpOutput
	if decode(u.Output, &out) != nil {
		out = acpOutput{}
	}
	r := ToolResult{ID: u.CallID, Status: StatusOK, Text: acpText(u, out), Command: call.command}
	failed := u.Status == string(acp.ToolCallStatusFailed)
	if call.action == ActionCommand {
		code, printed := out.command(u)
		r.ExitCode = code
		failed = failed || code != nil && *code != 0
		if printed != "" {
			a.emit(KindCommandOutput, CommandOutput{ID: u.CallID, Stream: "stdout", Text: printed})
		}
	}
	switch {
	case a.stopping() && r.ExitCode == nil:
		// Some call a command complete that was cancelled.
		r.Status = StatusCancelled
	case failed && call.denied && r.ExitCode == nil:
		r.Status = StatusDenied
	case failed:
		r.Status = StatusError
	}
	a.emit(KindToolResult, r)
}

// command reads how a command ended and what it printed, both streams as one.
func (o acpOutput) command(u acpUpdate) (code *int, printed string) {
	code = o.ExitCode
	for _, c := range o.Contents {
		if c.Type == "shell_exit" && c.ExitCode != nil {
			code = c.ExitCode
		}
	}
	if o.Output != "" || o.ExitCode != nil {
		return code, o.Output
	}
	return code, acpShellEnd.ReplaceAllString(u.said(), "")
}

// acpText is what the model was told, as far as the agent says it.
func acpText(u acpUpdate, o acpOutput) string {
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
func (a *acpTurn) refuse(id, reason string) {
	call, known := a.calls.take(id)
	if !known {
		return
	}
	a.forget(id, true)
	a.emit(KindToolResult, ToolResult{ID: id, Status: StatusDenied, Text: reason, Command: call.command})
}

// forget notes that a call has its result.
func (a *acpTurn) forget(id string, denied bool) {
	delete(a.tools, id)
	a.over[id] = denied
}
