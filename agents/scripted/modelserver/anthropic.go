package modelserver

import (
	"encoding/json"
	"net/http"

	"sandboxrun/internal/wire"
)

// anthropic is the Messages API, https://docs.anthropic.com/en/api/messages.
type anthropic struct{}

var anthropicFaults = map[int]string{
	400: "invalid_request_error",
	401: "authentication_error",
	403: "permission_error",
	404: "not_found_error",
	413: "request_too_large",
	429: "rate_limit_error",
	500: "api_error",
	504: "timeout_error",
	529: "overloaded_error",
}

func (anthropic) parse(_ *http.Request, body []byte) (question, error) {
	var in struct {
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
	if err := json.Unmarshal(body, &in); err != nil {
		return question{}, err
	}
	q := question{Request: Request{
		Wire: wire.AnthropicMessages, Model: in.Model, Stream: in.Stream, Messages: len(in.Messages),
		// Claude Code offers its tools in every request of its loop, and none
		// in the small ones it makes on the side.
		Main: len(in.Tools) > 0 && in.MaxTokens > 1,
	}}
	for _, t := range in.Tools {
		q.Tools = append(q.Tools, t.Name)
	}
	// Claude Code may send its system reminders as messages of their own after
	// the user's; they count as the prompt.
	var talk []said
	for _, m := range in.Messages {
		model := m.Role == "assistant"
		for _, b := range blocks(m.Content) {
			switch b.Type {
			case "text":
				talk = append(talk, said{model: model, text: b.Text})
			case "tool_use":
				talk = append(talk, said{model: model, text: string(b.Input)})
			case "tool_result":
				talk = append(talk, said{model: model, text: text(b.Content), result: true, id: b.ToolUseID, failed: b.IsError})
			default: // thinking, images: said, but not with words to look at
				talk = append(talk, said{model: model})
			}
		}
	}
	q.hear(talk)
	return q, nil
}

// message is an answer in its non-streaming form.
type message struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	Role       string         `json:"role"`
	Model      string         `json:"model"`
	Content    []any          `json:"content"`
	StopReason *string        `json:"stop_reason"`
	StopSeq    *string        `json:"stop_sequence"`
	Usage      map[string]int `json:"usage"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type toolBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func (anthropic) message(q question, a answer) message {
	return message{
		ID: id("msg", a.number), Type: "message", Role: "assistant", Model: q.Model, StopReason: &a.stop,
		Usage: map[string]int{"input_tokens": inputTokens, "output_tokens": outputTokens},
	}
}

func (w anthropic) document(q question, a answer) any {
	m := w.message(q, a)
	for _, p := range a.parts {
		m.Content = append(m.Content, w.block(p, p.text))
	}
	return m
}

// block is p with the given text; an open block of a stream has none yet.
func (anthropic) block(p part, text string) any {
	switch p.kind {
	case thinkingPart:
		b := thinkingBlock{Type: "thinking", Thinking: text}
		if text != "" {
			b.Signature = signature
		}
		return b
	case toolPart:
		if text == "" {
			text = "{}"
		}
		return toolBlock{Type: "tool_use", ID: id("toolu", p.number), Name: p.name, Input: json.RawMessage(text)}
	case textPart:
	}
	return textBlock{Type: "text", Text: text}
}

// signature stands for what a provider lets a client hand back with its thinking.
const signature = "c2NyaXB0ZWQ="

// events follows the order of
// https://docs.anthropic.com/en/docs/build-with-claude/streaming.
func (w anthropic) events(q question, a answer) []event {
	var list []event
	send := func(name string, last bool, data map[string]any) {
		data["type"] = name
		list = append(list, event{name: name, data: encode(data), last: last})
	}
	start := w.message(q, a)
	start.Content, start.StopReason = []any{}, nil
	start.Usage = map[string]int{"input_tokens": inputTokens, "output_tokens": 1}
	send("message_start", false, map[string]any{"message": start})
	send("ping", false, map[string]any{})
	for i, p := range a.parts {
		last := i == len(a.parts)-1
		send("content_block_start", false, map[string]any{"index": i, "content_block": w.block(p, "")})
		for _, d := range w.deltas(p) {
			send("content_block_delta", last, map[string]any{"index": i, "delta": d})
		}
		send("content_block_stop", false, map[string]any{"index": i})
	}
	send("message_delta", false, map[string]any{
		"delta": map[string]any{"stop_reason": a.stop, "stop_sequence": nil},
		"usage": map[string]int{"input_tokens": inputTokens, "output_tokens": outputTokens},
	})
	send("message_stop", false, map[string]any{})
	return list
}

func (anthropic) deltas(p part) []map[string]string {
	kind, field := "text_delta", "text"
	switch p.kind {
	case thinkingPart:
		kind, field = "thinking_delta", "thinking"
	case toolPart:
		kind, field = "input_json_delta", "partial_json"
	case textPart:
	}
	var list []map[string]string
	for _, piece := range chunks(p.text) {
		list = append(list, map[string]string{"type": kind, field: piece})
	}
	if p.kind == thinkingPart {
		list = append(list, map[string]string{"type": "signature_delta", "signature": signature})
	}
	return list
}

func (anthropic) fault(f Fault) any {
	return map[string]any{
		"type":  "error",
		"error": map[string]string{"type": faultType(f, anthropicFaults), "message": f.Message},
	}
}
