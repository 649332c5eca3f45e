package droid

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// versionPattern is the line before the protocol begins.
var versionPattern = regexp.MustCompile(`^\d{1,6}\.\d{1,6}\.\d{1,6}[0-9A-Za-z.+-]{0,32}$`)

// Line handles one line of the CLI's output.
func (c *peer) Line(ctx context.Context, text []byte) {
	if c.version == "" && versionPattern.Match(text) {
		c.version = string(text)
		return
	}
	var f frame
	if err := cli.Decode(text, &f); err != nil {
		c.EmitUnknown(text)
		return
	}
	switch {
	case f.Type == "response" && validID(f.ID):
		c.response(f, text)
	case f.Type == "request":
		c.request(ctx, f, text)
	case f.Type == "notification" && f.Method == "droid.session_notification":
		c.notification(ctx, f, text)
	default:
		c.EmitUnknown(text)
	}
}

// request handles what the CLI wants to know. Every request gets an answer, as
// the CLI waits for one without limit.
func (c *peer) request(ctx context.Context, f frame, text []byte) {
	switch {
	case !validID(f.ID) || c.asking[f.ID] != nil:
		c.EmitUnknown(text) // an answer would reach no request, or another one
	case f.Method == "droid.request_permission":
		c.permission(ctx, f, text)
	case f.Method == "droid.ask_user":
		c.question(ctx, f, text)
	default:
		c.EmitUnknown(text)
		c.Send(newRefusal(f.ID, "unsupported request"))
	}
}

// notification handles what the CLI tells about its session.
func (c *peer) notification(ctx context.Context, f frame, text []byte) {
	var p struct {
		SessionID string       `json:"sessionId"`
		Note      notification `json:"notification"`
	}
	if err := cli.Decode(f.Params, &p); err != nil {
		c.EmitUnknown(text)
		return
	}
	if p.SessionID != "" && c.session != "" && p.SessionID != c.session {
		c.EmitUnknown(text) // nothing of another session counts
		return
	}
	n := p.Note
	switch n.Type {
	case "create_message":
		c.message(n, text)
	case "assistant_text_delta":
		c.delta(n)
	case "assistant_message_retracted":
		c.retract(n.MessageID)
	case "tool_call":
		c.announce(n.ToolUse)
	case "tool_execution_phase_changed":
		c.phase(ctx, n)
	case "tool_progress_update":
		c.progress(n)
	case "tool_result":
		c.toolResult(n, text)
	case "agent_turn_completed":
		c.completed(n, text)
	case "llm_retry":
		c.retry(n)
	case "error":
		c.problem(n, text)
	case "settings_updated":
		c.settings(n)
	case "child_session_available":
		c.child(n.Child)
	case "session_compacted":
		c.Emit(agents.KindSystemMessage, agents.Message{Text: "the agent has shortened the conversation"})
	case "droid_working_state_changed", "assistant_text_complete", "thinking_text_delta", "thinking_text_complete",
		"permission_resolved", "session_token_usage_changed", "mcp_status_changed", "session_title_updated",
		"tool_execution_heartbeat", "session_working_directory_changed":
		// Signs of life; what they carry comes again as a whole.
	default:
		c.EmitUnknown(text)
	}
}

// settings ends a turn whose CLI gives itself more than was asked for.
func (c *peer) settings(n notification) {
	if c.ready && n.Settings.Autonomy != "" && n.Settings.Autonomy != c.autonomy {
		c.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeFailed,
			Message: fmt.Sprintf("the agent's autonomy became %q and not %q", cli.Head(n.Settings.Autonomy, maxID), c.autonomy)})
	}
}

// problem handles an error the CLI reports; whether it ends the turn is said by
// the turn's end.
func (c *peer) problem(n notification, text []byte) {
	said := strings.TrimSpace(plainText(n.Message))
	if said == "" {
		c.EmitUnknown(text)
		return
	}
	c.end.said = said
	c.Emit(agents.KindErrorMessage, agents.Message{Text: said, Code: n.ErrorType})
}

const (
	// maxRetries bounds how often the CLI repeats a failed request.
	maxRetries = 3
	// maxRetryTime is how long it may take over that. Its pauses grow from 5 s.
	maxRetryTime = 45 * time.Second
)

// retry handles the notice of a failed request.
func (c *peer) retry(n notification) {
	c.retries++
	c.retryWord = n.Reason
	clear(c.text)
	c.part = 0
	c.Emit(agents.KindSystemMessage, agents.Message{Code: n.Reason,
		Text: fmt.Sprintf("the provider failed (%s): attempt %d", strings.ReplaceAll(cli.Head(n.Reason, maxID), "_", " "), n.Attempt)})
	if c.retryBy.IsZero() {
		c.retryBy = time.Now().Add(maxRetryTime)
	}
	if c.retries > maxRetries {
		c.giveUp()
	}
}
