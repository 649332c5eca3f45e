package agents

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// droidVersion is the line before the protocol begins.
var droidVersion = regexp.MustCompile(`^\d{1,6}\.\d{1,6}\.\d{1,6}[0-9A-Za-z.+-]{0,32}$`)

// line handles one line of the CLI's output.
func (c *droidTurn) line(ctx context.Context, text []byte) {
	if c.version == "" && droidVersion.Match(text) {
		c.version = string(text)
		return
	}
	var f droidFrame
	if err := decode(text, &f); err != nil {
		c.strange(text)
		return
	}
	switch {
	case f.Type == "response" && droidNamed(f.ID):
		c.response(f, text)
	case f.Type == "request":
		c.request(ctx, f, text)
	case f.Type == "notification" && f.Method == "droid.session_notification":
		c.notification(ctx, f, text)
	default:
		c.strange(text)
	}
}

// request handles what the CLI wants to know. Every request gets an answer, as
// the CLI waits for one without limit.
func (c *droidTurn) request(ctx context.Context, f droidFrame, text []byte) {
	switch {
	case !droidNamed(f.ID) || c.asking[f.ID] != nil:
		c.strange(text) // an answer would reach nobody, or somebody else
	case f.Method == "droid.request_permission":
		c.permission(ctx, f, text)
	case f.Method == "droid.ask_user":
		c.question(ctx, f, text)
	default:
		c.strange(text)
		c.send(droidRefusal(f.ID, "unsupported request"))
	}
}

// notification handles what the CLI tells about its session.
func (c *droidTurn) notification(ctx context.Context, f droidFrame, text []byte) {
	var p struct {
		SessionID string    `json:"sessionId"`
		Note      droidNote `json:"notification"`
	}
	if err := decode(f.Params, &p); err != nil {
		c.strange(text)
		return
	}
	if p.SessionID != "" && c.session != "" && p.SessionID != c.session {
		c.strange(text) // nothing of another session counts
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
		c.emit(KindSystemMessage, Message{Text: "the agent has shortened the conversation"})
	case "droid_working_state_changed", "assistant_text_complete", "thinking_text_delta", "thinking_text_complete",
		"permission_resolved", "session_token_usage_changed", "mcp_status_changed", "session_title_updated",
		"tool_execution_heartbeat", "session_working_directory_changed":
		// Signs of life; what they carry comes again as a whole.
	default:
		c.strange(text)
	}
}

// settings ends a turn whose CLI gives itself more than was asked for.
func (c *droidTurn) settings(n droidNote) {
	if c.ready && n.Settings.Autonomy != "" && n.Settings.Autonomy != c.autonomy {
		c.stop(stop{end: EndFailed, code: codeFailed,
			message: fmt.Sprintf("the agent's autonomy became %q and not %q", head(n.Settings.Autonomy, maxDroidID), c.autonomy)})
	}
}

// problem handles an error the CLI reports; whether it ends the turn is said by
// the turn's end.
func (c *droidTurn) problem(n droidNote, text []byte) {
	said := strings.TrimSpace(droidText(n.Message))
	if said == "" {
		c.strange(text)
		return
	}
	c.end.said = said
	c.emit(KindErrorMessage, Message{Text: said, Code: n.ErrorType})
}

const (
	// droidRetries bounds how often the CLI repeats a failed request.
	droidRetries = 3
	// droidRetryTime is how long it may take over that. Its pauses grow from 5 s.
	droidRetryTime = 45 * time.Second
)

// retry handles the notice of a failed request.
func (c *droidTurn) retry(n droidNote) {
	c.retries++
	c.retryWord = n.Reason
	clear(c.text)
	c.part = 0
	c.emit(KindSystemMessage, Message{Code: n.Reason,
		Text: fmt.Sprintf("the provider failed (%s): attempt %d", strings.ReplaceAll(head(n.Reason, maxDroidID), "_", " "), n.Attempt)})
	if c.retryBy.IsZero() {
		c.retryBy = time.Now().Add(droidRetryTime)
	}
	if c.retries > droidRetries {
		c.giveUp()
	}
}

// giveUp ends a turn whose provider fails for good.
func (c *droidTurn) giveUp() {
	code := codeFailed
	if c.retryWord == "rate_limited" {
		code = codeQuota
	}
	c.stop(stop{end: EndFailed, code: code,
		message: fmt.Sprintf("the provider failed %d times (%s)", c.retries, strings.ReplaceAll(head(c.retryWord, maxDroidID), "_", " "))})
}
