package render

import (
	"encoding/json"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
)

func event(t *testing.T, phase, kind string, data any) journal.Event {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return journal.Event{Run: "R1", Phase: phase, Kind: kind, Data: raw}
}

func TestDescribeFormatsEventsInOneLine(t *testing.T) {
	t.Parallel()
	zero, two := 0, 2
	for _, tc := range []struct {
		name, kind string
		data       any
		want       string
	}{
		{"start", journal.EventRunStarted, journal.RunStarted{Objective: "say hello"}, "run R1 say hello"},
		{"end", journal.EventRunEnded, journal.RunEnded{Status: document.StatusPartial}, "run R1 ended: partial"},
		{"phase", journal.EventPhaseEnded, journal.PhaseEnded{DurationMS: 1234}, "done in 1.2 s"},
		{"failed phase", journal.EventPhaseEnded, journal.PhaseEnded{DurationMS: 90000, Error: "no box"}, "failed after 1m30s: no box"},
		{"command", journal.EventCommandOutput, document.CommandRun{Command: "true", Source: "runner", ExitCode: &zero, DurationMS: 50}, "$ true  (0.1 s)"},
		{"red command", journal.EventCommandOutput, document.CommandRun{Command: "false", Source: "runner", ExitCode: &two}, "$ false  (exit 2 after 0.0 s)"},
		{"lost command", journal.EventCommandOutput, document.CommandRun{Command: "sleep 9", Source: "runner"}, "$ sleep 9  (did not end)"},
		{"tool", string(agents.KindToolCall), agents.ToolCall{Tool: "Edit", Action: agents.ActionEdit, Input: json.RawMessage(`{"file_path":"a.go","new_string":"x"}`)}, "Edit a.go"},
		{"shell tool", string(agents.KindToolCall), agents.ToolCall{Tool: "Bash", Action: agents.ActionCommand, Input: json.RawMessage(`{"command":"go test"}`)}, "Bash $ go test"},
		{"good result is silent", string(agents.KindToolResult), agents.ToolResult{Status: "ok", Text: "fine"}, ""},
		{"denied result", string(agents.KindToolResult), agents.ToolResult{Status: "denied", Text: "no"}, "tool denied: no"},
		{"message", string(agents.KindAssistantMessage), agents.Message{Text: "I will\nwrite it.\n"}, "says: I will ⏎ write it."},
		{"file", journal.EventFileChanged, document.FileChange{Path: "a.go", ChangeType: "added", Additions: 3}, "added a.go (+3 -0)"},
		{"limit", journal.EventLimitReached, journal.LimitReached{Limit: "memory", Detail: "2 GB"}, "memory limit reached: 2 GB"},
		{"refused host", journal.EventEgressDenied, journal.EgressDenied{Name: "example.com:443", Method: "CONNECT", Reason: "not on the allow-list", Count: 1}, "network denied: CONNECT example.com:443: not on the allow-list"},
		{"refused address", journal.EventEgressDenied, journal.EgressDenied{Name: "db.test:5432", Reason: "db.test resolves to a private, local or reserved address", Address: "10.0.0.5", Count: 3}, "network denied: db.test:5432: db.test resolves to a private, local or reserved address (10.0.0.5) (3 times)"},
		{"further refusals", journal.EventEgressDenied, journal.EgressDenied{Reason: "further refusals", Count: 900}, "network denied: further refusals (900 times)"},
		{"unknown kind is silent", "weather", map[string]any{"text": "rain"}, ""},
		{"raw data of any shape is silent", string(agents.KindRaw), []int{1}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := describe(event(t, "agent", tc.kind, tc.data)).text; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDescribeEscapesTerminalControls(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{"\x1b]52;c;aGk=\x07", "\x1b[2J", "a\rb", "\u202egnp.exe", "\u009b31m", "\u2028"} {
		for kind := range formatters {
			l := describe(event(t, "agent", kind, map[string]any{
				"text": evil, "command": evil, "objective": evil, "error": evil, "path": evil, "source": "runner",
				"status": evil, "detail": evil, "limit": evil, "tool": evil, "input": map[string]string{"command": evil}, "name": evil, "reason": evil, "address": evil, "change_type": evil, "method": evil,
			}))
			for _, bad := range []string{"\x1b", "\r", "\a", "\u202e", "\u009b", "\u2028"} {
				if strings.Contains(l.text, bad) {
					t.Errorf("%s event of %q: line %q keeps %q", kind, evil, l.text, bad)
				}
			}
		}
	}
}

func TestDescribeBoundsALine(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 5<<20)
	if got := describe(event(t, "agent", string(agents.KindAssistantMessage), agents.Message{Text: huge})).text; len(got) > 2*MaxLine {
		t.Errorf("line of %d bytes", len(got))
	}
}
