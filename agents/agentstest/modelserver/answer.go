package modelserver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Token counts of every answer: fixed, so that sums can be checked.
const (
	inputTokens  = 100
	outputTokens = 20
)

// message is an answer of the Messages API in its non-streaming form.
type message struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"`
	Role       string  `json:"role"`
	Model      string  `json:"model"`
	Content    []any   `json:"content"`
	StopReason *string `json:"stop_reason"`
	StopSeq    *string `json:"stop_sequence"`
	Usage      usage   `json:"usage"`
}

type usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
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

// answer carries a step out.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, q question, step Step) {
	if step.DelayMS > 0 {
		timer := time.NewTimer(time.Duration(step.DelayMS) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
	switch m := s.compose(q, step); {
	case step.Silent:
		<-r.Context().Done()
	case step.Fault != nil:
		fault(w, *step.Fault)
	case q.Stream:
		stream(w, m, step.Cut)
	case step.Cut:
		half(w, m)
	default:
		writeJSON(w, http.StatusOK, m)
	}
}

func (s *Server) compose(q question, step Step) message {
	stop := step.StopReason
	if stop == "" {
		stop = "end_turn"
		if len(step.Tools) > 0 {
			stop = "tool_use"
		}
	}
	m := message{
		ID: s.id("msg"), Type: "message", Role: "assistant", Model: q.Model,
		StopReason: &stop, Usage: usage{Input: inputTokens, Output: outputTokens},
	}
	if step.Thinking != "" {
		m.Content = append(m.Content, thinkingBlock{Type: "thinking", Thinking: step.Thinking, Signature: "c2NyaXB0ZWQ="})
	}
	if step.Text != "" {
		m.Content = append(m.Content, textBlock{Type: "text", Text: step.Text})
	}
	for _, t := range step.Tools {
		m.Content = append(m.Content, toolBlock{Type: "tool_use", ID: s.id("toolu"), Name: t.Name, Input: t.Input})
	}
	return m
}

// half writes the first half of an answer and drops the connection.
func half(w http.ResponseWriter, m message) {
	b := encode(m)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b[:len(b)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func fault(w http.ResponseWriter, f Fault) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	writeJSON(w, f.Status, map[string]any{
		"type":  "error",
		"error": map[string]string{"type": f.Type, "message": f.Message},
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b := encode(v)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may have left; there is nobody else to tell
}

// encode drops the connection where an answer cannot be written.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return b
}
