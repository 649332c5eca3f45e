package modelserver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// Token counts of every answer: fixed, so that sums can be checked.
const (
	inputTokens  = 100
	outputTokens = 20
)

// The natural ends of an answer, by the names the Messages API has for them.
const (
	stopEnd     = "end_turn"
	stopTools   = "tool_use"
	stopLength  = "max_tokens"
	stopRefusal = "refusal"
)

// answer is a step as the model says it, before a wire gives it a form.
type answer struct {
	number int // for the message's id
	stop   string
	parts  []part
}

type partKind int

const (
	thinkingPart partKind = iota
	textPart
	toolPart
)

// part is a block of an answer. The text of a tool call is its input.
type part struct {
	kind   partKind
	text   string
	name   string // of the tool
	number int    // for the tool call's id
	free   bool   // the tool's input is text, not JSON
}

// ofKind returns the parts of one kind, for the wires that keep them apart.
func (a answer) ofKind(k partKind) []part {
	var list []part
	for _, p := range a.parts {
		if p.kind == k {
			list = append(list, p)
		}
	}
	return list
}

// textOf is the text of the parts of one kind.
func (a answer) textOf(k partKind) string {
	var sb strings.Builder
	for _, p := range a.ofKind(k) {
		sb.WriteString(p.text)
	}
	return sb.String()
}

// half writes the first half of an answer and drops the connection.
func half(w http.ResponseWriter, document any) {
	b := encode(document)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b[:len(b)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func refuse(w http.ResponseWriter, p protocol, f Fault) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	writeJSON(w, f.Status, p.fault(f))
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
