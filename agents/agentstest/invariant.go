package agentstest

import (
	"encoding/json"
	"strings"
	"testing"

	"sandboxrun/agents"
)

// Check checks what is true of every turn, whatever the process printed: each
// call has exactly one result, what went wrong has a code, a clean end was said
// by the CLI, and the events are not out of proportion to what was said.
// ending is the word without which no frame ends a turn of this protocol.
func (r *Recorder) Check(t *testing.T, o agents.Outcome, printed, ending string) {
	t.Helper()
	if o.End == "" || (o.End == agents.EndClean) != (o.Code == "") {
		t.Errorf("end %q with code %q", o.End, o.Code)
	}
	if o.End == agents.EndClean && !saysWord(printed, ending) {
		t.Errorf("a clean end, and nobody said %q", ending)
	}
	calls, results := map[string]int{}, map[string]int{}
	size := 0
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case agents.ToolCall:
			calls[d.ID]++
		case agents.ToolResult:
			if results[d.ID]++; results[d.ID] > calls[d.ID] {
				t.Errorf("result of %q without an open call", d.ID)
			}
		}
		b, err := json.Marshal(e.Data)
		if err != nil {
			t.Errorf("event %s cannot be written down: %v", e.Kind, err)
		}
		size += len(b)
	}
	for id, n := range calls {
		if results[id] != n {
			t.Errorf("call %q: %d calls, %d results", id, n, results[id])
		}
	}
	if most := 64<<10 + 200*len(printed); size > most {
		t.Errorf("%d bytes of events for %d printed", size, len(printed))
	}
}

// saysWord says whether some line is JSON with a string holding word in it.
func saysWord(printed, word string) bool {
	for line := range strings.Lines(printed) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "data:")
		var v any
		if json.NewDecoder(strings.NewReader(line)).Decode(&v) == nil && holdsWord(v, word) {
			return true
		}
	}
	return false
}

func holdsWord(v any, word string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, word)
	case []any:
		for _, e := range v {
			if holdsWord(e, word) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if holdsWord(e, word) {
				return true
			}
		}
	}
	return false
}
