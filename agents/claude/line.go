package claude

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// Line handles one line of the CLI's output.
func (c *peer) Line(ctx context.Context, text []byte) {
	var f frame
	if err := cli.Decode(text, &f); err != nil {
		c.EmitUnknown(text)
		return
	}
	switch f.Type {
	case "assistant":
		c.assistant(f, text)
	case "user":
		c.user(f, text)
	case "system":
		c.system(f, text)
	case "result":
		c.result(text)
	case "control_request":
		c.control(ctx, f, text)
	case "control_cancel_request":
		c.Withdraw(string(f.RequestID))
	case "control_response":
		c.response(f)
	case "stream_event", "tool_progress", "keep_alive":
		// Signs of life; what they carry comes again as a whole.
	default:
		c.EmitUnknown(text)
	}
}

// response handles an answer to a request of ours. Only the one to initialize
// says something, and nothing depends on it.
func (c *peer) response(f frame) {
	var r struct {
		Subtype  string `json:"subtype"`
		Error    string `json:"error"`
		Response struct {
			Version string `json:"claude_code_version"`
		} `json:"response"`
	}
	if err := cli.Decode(f.Response, &r); err != nil || r.Subtype == "error" {
		c.Emit(agents.KindErrorMessage, agents.Message{Text: "the agent refused a control request: " + r.Error})
		return
	}
	if v := r.Response.Version; v != "" {
		c.version = v
	}
}

// system handles a system frame.
func (c *peer) system(f frame, text []byte) {
	switch f.Subtype {
	case "init":
		c.started(f, text)
	case "api_retry":
		c.retry(f, text)
	case "permission_denied":
		c.Calls.Deny(f.ToolUseID)
		c.Emit(agents.KindSystemMessage, agents.Message{Text: "the agent denied itself a tool call"})
	case "background_tasks_changed":
		var b struct {
			Tasks []struct{} `json:"tasks"`
		}
		if err := cli.Decode(text, &b); err != nil {
			c.EmitUnknown(text)
			return
		}
		if len(b.Tasks) < c.tasks {
			c.wake = true
		}
		c.tasks = len(b.Tasks)
	case "status", "thinking_tokens", "task_started", "task_updated", "task_progress", "task_notification":
		// The calls and messages they are about have frames of their own.
	default:
		c.EmitUnknown(text)
	}
}

// started handles the init frame, which repeats before each turn inside the CLI.
func (c *peer) started(f frame, text []byte) {
	var i struct {
		Model   string `json:"model"`
		Version string `json:"claude_code_version"`
		Servers []struct {
			Name   string `json:"name"`
			Status string `json:"status"`
		} `json:"mcp_servers"`
	}
	if err := cli.Decode(text, &i); err != nil {
		c.EmitUnknown(text)
		return
	}
	c.wake = false
	c.goesOn()
	if i.Model != "" {
		c.model = i.Model
	}
	if i.Version != "" {
		c.version = i.Version
	}
	if f.SessionID != "" {
		c.session = f.SessionID
	}
	if !c.began {
		c.began = true
		c.Emit(agents.KindSystemMessage, agents.Message{Text: fmt.Sprintf("Claude Code %s, model %s", c.version, c.model)})
		for _, s := range i.Servers {
			if s.Status != "connected" && slices.ContainsFunc(c.Turn.MCP, func(t agents.Server) bool { return t.Name == s.Name }) {
				c.ReportServer(s.Name, s.Status)
			}
		}
	}
}

// retry handles the notice of a failed request. A refused key does not get
// better by trying again.
func (c *peer) retry(f frame, text []byte) {
	var r struct {
		Attempt int     `json:"attempt"`
		Max     int     `json:"max_retries"`
		DelayMS float64 `json:"retry_delay_ms"`
		Status  int     `json:"error_status"` // 0: no answer at all
	}
	if err := cli.Decode(text, &r); err != nil {
		c.EmitUnknown(text)
		return
	}
	c.Pause = time.Duration(min(max(r.DelayMS, 0), float64(cli.MaxPause.Milliseconds()))) * time.Millisecond
	what := "the provider did not answer"
	if r.Status != 0 {
		what = fmt.Sprintf("the provider answered %d", r.Status)
	}
	kind := strings.ReplaceAll(f.Error, "_", " ")
	c.Emit(agents.KindSystemMessage, agents.Message{Code: f.Error, Text: fmt.Sprintf("%s (%s): retry %d of %d in %s", what, kind, r.Attempt, r.Max, c.Pause)})
	if issueCode(r.Status, f.Error) == agents.CodeAuth {
		c.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeAuth, Message: what + " (" + kind + ")"})
	}
}
