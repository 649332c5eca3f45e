package modelserver

import (
	"encoding/json"
	"net/http"

	"sandboxrun/internal/wire"
)

// chat is the Chat Completions API of OpenAI and of the many that copy it,
// https://platform.openai.com/docs/api-reference/chat. Thinking travels in
// reasoning_content, the member those others have given it.
type chat struct{}

var openAIFaults = map[int]string{
	400: "invalid_request_error",
	401: "invalid_api_key",
	403: "permission_denied",
	404: "model_not_found",
	429: "rate_limit_exceeded",
	500: "server_error",
	503: "server_is_overloaded",
}

func (chat) parse(_ *http.Request, body []byte) (question, error) {
	var in struct {
		Model         string `json:"model"`
		Stream        bool   `json:"stream"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		ResponseFormat struct {
			JSONSchema struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				Function struct {
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return question{}, err
	}
	q := question{
		Request: Request{
			Wire: wire.OpenAIChat, Model: in.Model, Stream: in.Stream, Messages: len(in.Messages),
			Main: len(in.Tools) > 0,
		},
		schema: in.ResponseFormat.JSONSchema.Schema, counts: in.StreamOptions.IncludeUsage,
	}
	for _, t := range in.Tools {
		q.Tools = append(q.Tools, t.Function.Name)
	}
	var talk []said
	for _, m := range in.Messages {
		model := m.Role == "assistant"
		talk = append(talk, said{
			model: model, system: m.Role == "system" || m.Role == "developer", text: text(m.Content),
			result: m.Role == "tool", id: m.ToolCallID,
		})
		for _, c := range m.ToolCalls {
			talk = append(talk, said{model: model, text: c.Function.Arguments})
		}
	}
	q.hear(talk)
	return q, nil
}

// created is when every answer was made, in seconds since 1970: fixed, so that
// two runs of a script agree.
const created = 1_700_000_000

func (chat) envelope(q question, a answer, object string, choices []any) map[string]any {
	return map[string]any{
		"id": id("chatcmpl", a.number), "object": object, "created": created, "model": q.Model, "choices": choices,
	}
}

func (chat) usage() map[string]int {
	return map[string]int{"prompt_tokens": inputTokens, "completion_tokens": outputTokens, "total_tokens": inputTokens + outputTokens}
}

func (chat) finish(a answer) string {
	switch a.stop {
	case stopEnd:
		return "stop"
	case stopTools:
		return "tool_calls"
	case stopLength:
		return "length"
	case stopRefusal:
		return "content_filter"
	}
	return a.stop
}

func (w chat) document(q question, a answer) any {
	m := map[string]any{"role": "assistant", "content": nil}
	if t := a.textOf(textPart); t != "" {
		m["content"] = t
	}
	if t := a.textOf(thinkingPart); t != "" {
		m["reasoning_content"] = t
	}
	var calls []any
	for _, p := range a.ofKind(toolPart) {
		calls = append(calls, map[string]any{
			"id": id("call", p.number), "type": "function",
			"function": map[string]string{"name": p.name, "arguments": p.text},
		})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	d := w.envelope(q, a, "chat.completion", []any{map[string]any{"index": 0, "message": m, "finish_reason": w.finish(a)}})
	d["usage"] = w.usage()
	return d
}

func (w chat) events(q question, a answer) []event {
	var list []event
	send := func(last bool, delta map[string]any, finish any) {
		d := w.envelope(q, a, "chat.completion.chunk", []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}})
		list = append(list, event{data: encode(d), last: last})
	}
	send(false, map[string]any{"role": "assistant", "content": ""}, nil)
	calls := 0
	for i, p := range a.parts {
		last := i == len(a.parts)-1
		if p.kind == toolPart {
			send(false, map[string]any{"tool_calls": []any{map[string]any{
				"index": calls, "id": id("call", p.number), "type": "function",
				"function": map[string]string{"name": p.name, "arguments": ""},
			}}}, nil)
		}
		for _, piece := range chunks(p.text) {
			switch p.kind {
			case thinkingPart:
				send(last, map[string]any{"reasoning_content": piece}, nil)
			case textPart:
				send(last, map[string]any{"content": piece}, nil)
			case toolPart:
				send(last, map[string]any{"tool_calls": []any{map[string]any{
					"index": calls, "function": map[string]string{"arguments": piece},
				}}}, nil)
			}
		}
		if p.kind == toolPart {
			calls++
		}
	}
	send(false, map[string]any{}, w.finish(a))
	if q.counts {
		d := w.envelope(q, a, "chat.completion.chunk", []any{})
		d["usage"] = w.usage()
		list = append(list, event{data: encode(d)})
	}
	return append(list, event{data: []byte("[DONE]")})
}

func (chat) fault(f Fault) any { return openAIFault(f) }

// openAIFault is an error of either API of OpenAI. Clients look at the code in
// some cases and at the type in others, so both say what happened.
func openAIFault(f Fault) any {
	name := faultType(f, openAIFaults)
	return map[string]any{"error": map[string]any{"message": f.Message, "type": name, "param": nil, "code": name}}
}
