package modelserver

import (
	"encoding/json"
	"net/http"
	"strings"

	"sandboxrun/internal/wire"
)

// Bounds of what the server looks at and remembers.
const (
	maxRequests     = 1000     // requests kept; older ones are forgotten first
	maxResultText   = 16 << 10 // bytes kept of one tool result
	maxPrompt       = 64 << 10 // bytes kept of a prompt, which comes after what a CLI puts before it
	maxRequestBytes = 32 << 20 // size of a request body
	maxConversation = 8 << 20  // bytes of a conversation that Step.Expect looks at
)

// Request is one request the server was asked, with what tests want to know.
type Request struct {
	Method, Path string
	// Wire is the protocol spoken: one of the package wire; empty
	// for what is no question to the model.
	Wire   wire.Wire
	Key    string // x-api-key, x-goog-api-key, or the bearer token
	Model  string
	Stream bool
	// Main tells a request of the agent's loop, which takes a step, from a side
	// request of the CLI (a title, a quota probe, a choice of model).
	Main     bool
	Messages int      // messages, or items, in the conversation sent
	Tools    []string // names of the tools offered
	Prompt   string   // text after the model's last message
	Results  []Result // tool results after the model's last message
}

// Result is a tool result the CLI sent to the model.
type Result struct {
	ID   string
	Text string
	// IsError is what the wire says of the result; the OpenAI wires say nothing.
	IsError bool
}

// question is a request with what its answer depends on.
type question struct {
	Request
	text   string            // the conversation, for Step.Expect
	schema json.RawMessage   // JSON Schema the answer must follow, if any
	custom map[string]bool   // tools called with free text instead of JSON
	spaces map[string]string // namespace of the tools that are in one
	counts bool              // a stream ends with its token counts
}

// said is one thing in a conversation: a text, a tool call or a tool result.
type said struct {
	model  bool // by the model
	system bool // by who runs the agent: neither prompt nor memory
	text   string
	result bool // text is the result of the tool call id
	id     string
	failed bool
}

// hear fills in what the conversation tells.
func (q *question) hear(talk []said) {
	start := 0
	var all strings.Builder
	for i, s := range talk {
		if s.model {
			start = i + 1
		}
		if !s.system && all.Len()+len(s.text) < maxConversation {
			all.WriteString(s.text)
			all.WriteByte('\n')
		}
	}
	q.text = all.String()
	for _, s := range talk[start:] {
		switch {
		case s.system:
		case s.result:
			q.Results = append(q.Results, Result{ID: s.id, Text: head(s.text, maxResultText), IsError: s.failed})
		default:
			q.Prompt = head(q.Prompt+s.text, maxPrompt)
		}
	}
}

func key(r *http.Request) string {
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key"} {
		if k := r.Header.Get(name); k != "" {
			return k
		}
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// block is a piece of a message's content. Anthropic and OpenAI agree on the
// member that holds a text, not on what the pieces are called.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ToolUseID string          `json:"tool_use_id"`
	Input     json.RawMessage `json:"input"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// blocks reads content, which is a string or a list of blocks.
func blocks(content json.RawMessage) []block {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return []block{{Type: "text", Text: s}}
	}
	var list []block
	if json.Unmarshal(content, &list) != nil {
		return nil
	}
	return list
}

func text(content json.RawMessage) string {
	var sb strings.Builder
	for _, b := range blocks(content) {
		sb.WriteString(b.Text)
	}
	return sb.String()
}

func head(s string, limit int) string { return s[:min(len(s), limit)] }
