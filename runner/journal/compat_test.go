package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/schemas/closed"
)

// dataOf is an empty value of the type that an event's data has.
func dataOf(t *testing.T, e Event) any {
	t.Helper()
	var marks struct {
		Source string `json:"source"` // the runner's own usage and commands have one
	}
	if err := json.Unmarshal(e.Data, &marks); err != nil {
		t.Fatal(err)
	}
	switch {
	case e.Kind == EventUsage && marks.Source == UsageOfBroker:
		return &BrokerUsage{}
	case e.Kind == EventUsage && marks.Source == UsageOfProxy:
		return &ProxyUsage{}
	case e.Kind == EventUsage:
		return &agents.Usage{}
	case e.Kind == EventCommandOutput && marks.Source == "":
		return &agents.CommandOutput{}
	}
	data := map[string]any{
		EventRunStarted: &RunStarted{}, EventRunEnded: &RunEnded{}, EventPhaseStarted: &PhaseStarted{}, EventPhaseEnded: &PhaseEnded{},
		EventCommandOutput: &CommandOutput{}, EventFileChanged: &FileChanged{}, EventSystemMessage: &SystemMessage{},
		EventEgressDenied: &EgressDenied{}, EventLimitReached: &LimitReached{},
		EventApprovalAsked: &ApprovalAsked{}, EventApprovalAnswered: &ApprovalAnswered{}, EventTruncated: &Truncated{},
		"tool_call": &agents.ToolCall{}, "tool_result": &agents.ToolResult{},
		"user_message": &agents.Message{}, "assistant_message": &agents.Message{}, "thinking": &agents.Message{}, "error_message": &agents.Message{},
	}[e.Kind]
	if data == nil {
		t.Fatalf("event kind %q has no type here", e.Kind)
	}
	return data
}

func TestStoredEventsStayValidAndReadable(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../schemas/testdata/compat/*/*/events.ndjson")
	if err != nil || len(paths) < 7 {
		t.Fatalf("%d stored journals (%v)", len(paths), err)
	}
	kinds := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		var events []Event
		for e, err := range Events(t.Context(), path, 1, false) {
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			events = append(events, e)
		}
		if len(events) != len(lines) {
			t.Fatalf("%s: %d events in %d lines", path, len(events), len(lines))
		}
		for i, e := range events {
			kinds[e.Kind] = true
			data := dataOf(t, e)
			if err := json.Unmarshal(e.Data, data); err != nil {
				t.Errorf("%s:%d: %v", path, i+1, err)
			}
			if e.Data, err = json.Marshal(data); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range []error{closed.ValidateOpen("event", lines[i]), closed.Validate("event", again), closed.Kept(lines[i], again)} {
				if err != nil {
					t.Errorf("%s:%d: %v", path, i+1, err)
				}
			}
		}
	}
	for _, kind := range []string{EventRunStarted, EventRunEnded, EventPhaseEnded, EventCommandOutput, EventFileChanged, EventUsage, EventLimitReached, EventEgressDenied, EventApprovalAsked, "tool_call"} {
		if !kinds[kind] {
			t.Errorf("no stored journal has an event %s", kind)
		}
	}
}
