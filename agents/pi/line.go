package pi

import (
	"context"
	"encoding/json"
	"strings"

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
	case "response":
		c.response(f, text)
	case "extension_ui_request":
		c.extension(ctx, f, text)
	case "extension_error":
		c.Emit(agents.KindErrorMessage, agents.Message{Text: "an extension failed: " + cli.Head(f.Error, cli.MaxWords)})
	case "message_end":
		c.message(f, text)
	case "tool_execution_start":
		c.beginCall(f, text)
	case "tool_execution_update":
		c.progress(f)
	case "tool_execution_end":
		c.endCall(f, text)
	case "compaction_end":
		if f.ErrorMessage == "" && !f.Aborted {
			c.Emit(agents.KindSystemMessage, agents.Message{Text: "the agent has shortened the conversation"})
		}
	case "agent_settled":
		c.settled(text)
	case "agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "auto_retry_start", "auto_retry_end",
		"entry_appended", "queue_update", "session_info_changed", "thinking_level_changed", "compaction_start",
		"summarization_retry_scheduled", "summarization_retry_attempt_start", "summarization_retry_finished":
		// Signs of life; what they carry comes again as a whole.
	default:
		c.EmitUnknown(text)
	}
}

// extension handles what extensions say and ask. Dialogs that are not the
// guard's are answered as well, as an extension waits for that without limit.
func (c *peer) extension(ctx context.Context, f frame, text []byte) {
	switch f.Method {
	case "editor":
		c.dialog(ctx, f, text)
	case "select", "confirm", "input":
		c.EmitUnknown(text)
		c.Send(dialogAnswer{Type: dialogAnswerType, ID: f.ID, Cancelled: true})
	case "setStatus":
		if f.StatusKey == "sandboxrun.ready" && !c.guarded {
			c.guardReady(f, text)
		}
	case "notify":
		var said string
		if json.Unmarshal(f.Message, &said) == nil && said != "" {
			c.Emit(agents.KindSystemMessage, agents.Message{Text: said})
		}
	case "setWidget", "setTitle", "set_editor_text":
		// For a screen.
	default:
		c.EmitUnknown(text)
	}
}

// guardReady handles the first word of the guard.
func (c *peer) guardReady(f frame, text []byte) {
	var said struct {
		Version string `json:"version"`
		Failed  []struct {
			Name string `json:"name"`
			Why  string `json:"why"`
		} `json:"failed"`
	}
	if err := cli.Decode([]byte(f.StatusText), &said); err != nil || said.Version == "" {
		c.EmitUnknown(text)
		return
	}
	c.guarded, c.version = true, cli.Head(said.Version, maxID)
	for _, s := range said.Failed {
		c.ReportServer(s.Name, s.Why)
	}
}

// message handles a message as a whole.
func (c *peer) message(f frame, text []byte) {
	var m message
	if err := cli.Decode(f.Message, &m); err != nil || m.Role == "" {
		c.EmitUnknown(text)
		return
	}
	if m.Role != "assistant" {
		return // our prompt, what the CLI adds to it, and results that come by themselves
	}
	c.end.answered(m)
	var words strings.Builder
	for _, r := range m.Content {
		var b block
		switch err := cli.Decode(r, &b); {
		case err != nil:
			c.EmitUnknown(r)
		case b.Type == "text":
			words.WriteString(b.Text)
			if b.Text != "" && c.end.reason != stopError {
				c.Emit(agents.KindAssistantMessage, agents.Message{Text: b.Text})
			}
		case b.Type == "thinking":
			if b.Thinking != "" && c.end.reason != stopError {
				c.Emit(agents.KindThinking, agents.Message{Text: b.Thinking})
			}
		case b.Type != "toolCall": // those come again when they are begun
			c.EmitUnknown(r)
		}
	}
	c.partial = ""
	switch said := words.String(); {
	case c.end.reason == stopError:
		c.partial = said // the CLI may try again, and leaves it out then
		if !c.Stopping() {
			c.Emit(agents.KindErrorMessage, agents.Message{Text: c.end.message()})
		}
	case said != "":
		c.end.claim = cli.Head(said, cli.MaxWords)
	}
}
