package modelserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"sandboxrun/internal/wire"
)

// responses is the Responses API of OpenAI,
// https://platform.openai.com/docs/api-reference/responses.
type responses struct{}

// declared is a tool offered, or a namespace of tools.
type declared struct {
	Type  string     `json:"type"`
	Name  string     `json:"name"`
	Tools []declared `json:"tools"`
}

func (responses) parse(_ *http.Request, body []byte) (question, error) {
	var in struct {
		Model  string          `json:"model"`
		Stream bool            `json:"stream"`
		Input  json.RawMessage `json:"input"`
		Tools  []declared      `json:"tools"`
		Text   struct {
			Format struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"text"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return question{}, err
	}
	items, err := inputItems(in.Input)
	if err != nil {
		return question{}, err
	}
	q := question{
		Request: Request{Wire: wire.OpenAIResponses, Model: in.Model, Stream: in.Stream, Messages: len(items)},
		schema:  in.Text.Format.Schema, custom: map[string]bool{}, spaces: map[string]string{},
	}
	q.offer("", in.Tools)
	var talk []said
	for _, item := range items {
		q.offer("", item.Tools)
		talk = append(talk, item.said())
	}
	q.Main = len(q.Tools) > 0
	q.hear(talk)
	return q, nil
}

// offer notes the tools offered. A tool of a namespace is called by its own
// name, and so is one of the provider's own, which has its kind for a name.
func (q *question) offer(space string, tools []declared) {
	for _, t := range tools {
		switch {
		case t.Type == "namespace" && space == "":
			q.offer(t.Name, t.Tools)
			continue
		case t.Name == "":
			t.Name = t.Type
		case t.Type == "custom":
			q.custom[t.Name] = true
		}
		if space != "" {
			q.spaces[t.Name] = space
		}
		q.Tools = append(q.Tools, t.Name)
	}
}

// free tells a call with free text from one with JSON: the tool was offered as
// custom, or it was not offered and the script has a string for it. Codex knows
// tools that it does not offer.
func (q *question) free(p part) bool {
	return p.kind == toolPart && (q.custom[p.name] || !slices.Contains(q.Tools, p.name) && strings.HasPrefix(p.text, `"`))
}

// inputItem is what the client hands over of a conversation.
type inputItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Output    json.RawMessage `json:"output"`
	Tools     []declared      `json:"tools"`
}

// inputItems reads the input, which is a text or a list.
func inputItems(input json.RawMessage) ([]inputItem, error) {
	var prompt string
	if json.Unmarshal(input, &prompt) == nil {
		return []inputItem{{Role: "user", Content: input}}, nil
	}
	var items []inputItem
	err := json.Unmarshal(input, &items)
	return items, err
}

func (i inputItem) said() said {
	switch i.Type {
	case "function_call_output", "custom_tool_call_output":
		return said{text: text(i.Output), result: true, id: i.CallID}
	case "function_call", "custom_tool_call", "reasoning":
		return said{model: true, text: unquoted(i.Arguments) + unquoted(i.Input)}
	}
	return said{
		model: i.Role == "assistant", system: !slices.Contains([]string{"assistant", "user"}, i.Role),
		text: text(i.Content),
	}
}

// unquoted is the text of a JSON string, and other JSON as it stands.
func unquoted(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// object is an answer as far as it has got; output is nil until it has ended.
func (w responses) object(q question, a answer, output []any) map[string]any {
	d := map[string]any{
		"id": id("resp", a.number), "object": "response", "created_at": created, "model": q.Model,
		"status": "in_progress", "output": []any{}, "error": nil, "incomplete_details": nil, "usage": nil,
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "metadata": map[string]any{},
	}
	if output == nil {
		return d
	}
	d["status"], d["output"] = "completed", output
	if why := w.incomplete(a); why != "" {
		d["status"], d["incomplete_details"] = "incomplete", map[string]string{"reason": why}
	}
	d["usage"] = map[string]any{
		"input_tokens": inputTokens, "input_tokens_details": map[string]int{"cached_tokens": 0},
		"output_tokens": outputTokens, "output_tokens_details": map[string]int{"reasoning_tokens": 0},
		"total_tokens": inputTokens + outputTokens,
	}
	return d
}

// incomplete is why an answer ended before its time, empty if it did not.
func (responses) incomplete(a answer) string {
	switch a.stop {
	case stopEnd, stopTools:
		return ""
	case stopLength:
		return "max_output_tokens"
	case stopRefusal:
		return "content_filter"
	}
	return a.stop
}

func (w responses) document(q question, a answer) any {
	output := []any{}
	for i, p := range w.parts(q, a) {
		output = append(output, w.item(q, a, i, p, p.text, "completed"))
	}
	return w.object(q, a, output)
}

// parts are the blocks of an answer, with the input of custom tools as free text.
func (responses) parts(q question, a answer) []part {
	list := slices.Clone(a.parts)
	for i, p := range list {
		if q.free(p) {
			list[i].text, list[i].free = freeText(p.text), true
		}
	}
	return list
}

// item is one block of an answer, with as much of its text as was said so far.
func (responses) item(q question, a answer, index int, p part, said, status string) map[string]any {
	switch p.kind {
	case thinkingPart:
		summary := []any{}
		if said != "" {
			summary = append(summary, map[string]string{"type": "summary_text", "text": said})
		}
		return map[string]any{
			"type": "reasoning", "id": id("rs", a.number*100+index), "summary": summary, "encrypted_content": signature,
		}
	case textPart:
		content := []any{}
		if said != "" {
			content = append(content, outputText(said))
		}
		return map[string]any{
			"type": "message", "id": id("msg", a.number*100+index), "role": "assistant", "status": status, "content": content,
		}
	case toolPart:
	}
	call := map[string]any{
		"type": "function_call", "id": id("fc", p.number), "call_id": id("call", p.number),
		"name": p.name, "arguments": said, "status": status,
	}
	if p.free {
		delete(call, "arguments")
		call["type"], call["id"], call["input"] = "custom_tool_call", id("ctc", p.number), said
	}
	if space, ok := q.spaces[p.name]; ok {
		call["namespace"] = space
	}
	return call
}

func outputText(s string) map[string]any {
	return map[string]any{"type": "output_text", "text": s, "annotations": []any{}, "logprobs": []any{}}
}

// freeText is the input of a custom tool: a string of JSON, an object with the
// one member input, or else the JSON itself.
func freeText(input string) string {
	var o struct {
		Input *string `json:"input"`
	}
	if json.Unmarshal([]byte(input), &o) == nil && o.Input != nil {
		return *o.Input
	}
	return unquoted(json.RawMessage(input))
}

func (responses) fault(f Fault) any { return openAIFault(f) }
