package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// deltaBytes is how much of a block one delta carries.
const deltaBytes = 24

// stream sends m as server-sent events, in the order of
// https://docs.anthropic.com/en/docs/build-with-claude/streaming. A cut stream
// drops the connection in the middle of its last block.
func stream(w http.ResponseWriter, m message, cut bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	out := events{w: w, flush: http.NewResponseController(w)}

	start := m
	start.Content, start.StopReason = []any{}, nil
	start.Usage.Output = 1
	out.send("message_start", map[string]any{"message": start})
	out.send("ping", map[string]any{})
	for i, b := range m.Content {
		empty, deltas := open(b)
		out.send("content_block_start", map[string]any{"index": i, "content_block": empty})
		for j, d := range deltas {
			if cut && i == len(m.Content)-1 && j >= len(deltas)/2 {
				panic(http.ErrAbortHandler)
			}
			out.send("content_block_delta", map[string]any{"index": i, "delta": d})
		}
		out.send("content_block_stop", map[string]any{"index": i})
	}
	out.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": m.StopReason, "stop_sequence": m.StopSeq},
		"usage": m.Usage,
	})
	out.send("message_stop", map[string]any{})
}

// events writes server-sent events. A client that left is noticed by its next
// request, so write errors end nothing here.
type events struct {
	w     http.ResponseWriter
	flush *http.ResponseController
}

func (e events) send(name string, data map[string]any) {
	data["type"] = name
	b, err := json.Marshal(data)
	if err != nil {
		panic(http.ErrAbortHandler) // scenario input was checked to be JSON
	}
	_, _ = fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, b)
	_ = e.flush.Flush()
}

// open splits a content block into its empty form and its deltas.
func open(b any) (empty any, deltas []map[string]string) {
	var kind, field, body string
	switch b := b.(type) {
	case textBlock:
		kind, field, body = "text_delta", "text", b.Text
		empty = textBlock{Type: b.Type}
	case thinkingBlock:
		kind, field, body = "thinking_delta", "thinking", b.Thinking
		empty = thinkingBlock{Type: b.Type}
		defer func() {
			deltas = append(deltas, map[string]string{"type": "signature_delta", "signature": b.Signature})
		}()
	case toolBlock:
		kind, field, body = "input_json_delta", "partial_json", string(b.Input)
		empty = toolBlock{Type: b.Type, ID: b.ID, Name: b.Name, Input: json.RawMessage("{}")}
	}
	for _, part := range chunks(body) {
		deltas = append(deltas, map[string]string{"type": kind, field: part})
	}
	return empty, deltas
}

// chunks splits s into pieces of about deltaBytes at rune boundaries; at least one.
func chunks(s string) []string {
	var parts []string
	start := 0
	for i := range s {
		if i-start >= deltaBytes {
			parts = append(parts, s[start:i])
			start = i
		}
	}
	return append(parts, s[start:])
}
