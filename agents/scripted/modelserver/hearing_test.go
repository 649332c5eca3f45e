package modelserver

import (
	"encoding/json"
	"fmt"
)

// How a client of each wire understands an answer. What has another form than
// the wire's panics, which fails the test.

func str(v any) string {
	s, _ := v.(string)
	return s
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func number(v any) int {
	f, _ := v.(float64)
	return int(f)
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func hearMessage(h *heard, v map[string]any) {
	for _, b := range list(v["content"]) {
		b := object(b)
		switch b["type"] {
		case "thinking":
			h.thinking = str(b["thinking"])
		case "text":
			h.text = str(b["text"])
		case "tool_use":
			h.calls = append(h.calls, call{str(b["id"]), str(b["name"]), compact(b["input"])})
		}
	}
	h.stop, h.in, h.out = str(v["stop_reason"]), number(object(v["usage"])["input_tokens"]), number(object(v["usage"])["output_tokens"])
}

func hearMessageEvent(h *heard, v map[string]any) {
	switch v["type"] {
	case "content_block_start":
		if b := object(v["content_block"]); b["type"] == "tool_use" {
			h.calls = append(h.calls, call{id: str(b["id"]), name: str(b["name"])})
		}
	case "content_block_delta":
		d := object(v["delta"])
		h.thinking += str(d["thinking"])
		h.text += str(d["text"])
		if d["type"] == "input_json_delta" {
			h.calls[len(h.calls)-1].args += str(d["partial_json"])
		}
	case "message_delta":
		h.stop = str(object(v["delta"])["stop_reason"])
		h.in, h.out = number(object(v["usage"])["input_tokens"]), number(object(v["usage"])["output_tokens"])
	}
}

func hearResponse(h *heard, v map[string]any) {
	for _, item := range list(v["output"]) {
		item := object(item)
		switch item["type"] {
		case "reasoning":
			h.thinking = str(object(list(item["summary"])[0])["text"])
		case "message":
			h.text = str(object(list(item["content"])[0])["text"])
		case "function_call":
			h.calls = append(h.calls, call{str(item["call_id"]), str(item["name"]), str(item["arguments"])})
		case "custom_tool_call":
			h.calls = append(h.calls, call{str(item["call_id"]), str(item["name"]), str(item["input"])})
		}
	}
	h.stop, h.in, h.out = str(v["status"]), number(object(v["usage"])["input_tokens"]), number(object(v["usage"])["output_tokens"])
	if why := object(v["incomplete_details"]); why != nil {
		h.stop += " " + str(why["reason"])
	}
}

// hearResponseEvent adds the deltas up; the end must say the same again.
func hearResponseEvent(h *heard, v map[string]any) {
	switch v["type"] {
	case "response.output_item.added":
		if item := object(v["item"]); item["call_id"] != nil {
			h.calls = append(h.calls, call{id: str(item["call_id"]), name: str(item["name"])})
		}
	case "response.reasoning_summary_text.delta":
		h.thinking += str(v["delta"])
	case "response.output_text.delta":
		h.text += str(v["delta"])
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		h.calls[len(h.calls)-1].args += str(v["delta"])
	case "response.completed", "response.incomplete":
		var whole heard
		hearResponse(&whole, object(v["response"]))
		h.stop, h.in, h.out = whole.stop, whole.in, whole.out
		if fmt.Sprint(*h) != fmt.Sprint(whole) {
			panic(fmt.Sprintf("the deltas say %v and the end says %v", *h, whole))
		}
	}
}

func hearChat(h *heard, v map[string]any) {
	for _, c := range list(v["choices"]) {
		c := object(c)
		m := object(c["message"])
		if m == nil {
			m = object(c["delta"])
		}
		h.thinking += str(m["reasoning_content"])
		h.text += str(m["content"])
		for i, t := range list(m["tool_calls"]) {
			t := object(t)
			if index, ok := t["index"]; ok {
				i = number(index)
			}
			if i == len(h.calls) {
				h.calls = append(h.calls, call{id: str(t["id"]), name: str(object(t["function"])["name"])})
			}
			h.calls[i].args += str(object(t["function"])["arguments"])
		}
		h.stop += str(c["finish_reason"])
	}
	if u := object(v["usage"]); u != nil {
		h.in, h.out = number(u["prompt_tokens"]), number(u["completion_tokens"])
	}
}

func hearCandidate(h *heard, v map[string]any) {
	c := object(list(v["candidates"])[0])
	for _, p := range list(object(c["content"])["parts"]) {
		p := object(p)
		switch f := object(p["functionCall"]); {
		case f != nil:
			h.calls = append(h.calls, call{str(f["id"]), str(f["name"]), compact(f["args"])})
		case p["thought"] == true:
			h.thinking += str(p["text"])
		default:
			h.text += str(p["text"])
		}
	}
	h.stop += str(c["finishReason"])
	if u := object(v["usageMetadata"]); u != nil {
		h.in, h.out = number(u["promptTokenCount"]), number(u["candidatesTokenCount"])
	}
}
