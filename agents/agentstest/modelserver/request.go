package modelserver

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Bounds of what the server remembers.
const (
	maxRequests     = 1000     // requests kept; older ones are forgotten first
	maxResultText   = 16 << 10 // bytes kept of one tool result
	maxRequestBytes = 32 << 20 // size of a request body
)

// Request is one request the server was asked, with what tests want to know.
type Request struct {
	Method, Path string
	Key          string // x-api-key, or the bearer token
	Model        string
	Stream       bool
	// Main tells a request of the agent's loop, which takes a step, from a side
	// request of the CLI (a title, a quota probe, a token count).
	Main     bool
	Messages int      // messages in the conversation sent
	Tools    []string // names of the tools offered
	Prompt   string   // text after the model's last message
	Results  []Result // tool results after the model's last message
}

// Result is a tool result the CLI sent to the model.
type Result struct {
	ID      string
	Text    string
	IsError bool
}

// question is the part of a Messages API request the server looks at,
// https://docs.anthropic.com/en/api/messages.
type question struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	Stream    bool   `json:"stream"`
	Tools     []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// record turns a request into what is remembered of it.
func record(r *http.Request, q question) Request {
	rec := Request{
		Method: r.Method, Path: r.URL.Path, Key: key(r.Header), Model: q.Model, Stream: q.Stream,
		Messages: len(q.Messages),
		// Claude Code offers its tools in every request of its loop, and none
		// in the small ones it makes on the side.
		Main: len(q.Tools) > 0 && q.MaxTokens > 1,
	}
	for _, t := range q.Tools {
		rec.Tools = append(rec.Tools, t.Name)
	}
	for _, m := range q.Messages[lastAnswer(q):] {
		for _, b := range blocks(m.Content) {
			switch b.Type {
			case "text":
				rec.Prompt = head(rec.Prompt + b.Text)
			case "tool_result":
				rec.Results = append(rec.Results, Result{ID: b.ToolUseID, Text: head(text(b.Content)), IsError: b.IsError})
			}
		}
	}
	return rec
}

// lastAnswer is the index after the model's last message. Claude Code may send
// its system reminders as messages of their own after the user's.
func lastAnswer(q question) int {
	for i := len(q.Messages); i > 0; i-- {
		if q.Messages[i-1].Role == "assistant" {
			return i
		}
	}
	return 0
}

func key(h http.Header) string {
	if k := h.Get("X-Api-Key"); k != "" {
		return k
	}
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
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

func head(s string) string {
	if len(s) > maxResultText {
		return s[:maxResultText]
	}
	return s
}
