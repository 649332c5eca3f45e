package plan

import (
	"errors"
	"testing"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

func TestAPlanKnowsItsSession(t *testing.T) {
	t.Parallel()
	base := `{"objective": "x", "instructions": "y", "context": {"repo_root": "/repo"}`
	tests := []struct {
		name, task string
		flags      Overrides
		session    string
		pointer    string // of the refusal
	}{
		{"none", "", Overrides{}, "", ""},
		{"task", `, "session_id": "a"`, Overrides{}, "a", ""},
		{"flag over task", `, "session_id": "a"`, Overrides{Session: "b", Retry: "01J"}, "b", ""},
		{"retry without a session", `, "retry_process_id": "01j"`, Overrides{}, "", "/retry_process_id"},
		{"no agent", `, "session_id": "a", "execution_mode": "command", "suggested_commands": ["true"]`, Overrides{}, "", "/session_id"},
		{"bad flag", "", Overrides{Session: "a/b"}, "", ""},
		{"bad retry", "", Overrides{Session: "a", Retry: "../x"}, "", ""},
	}
	for _, tt := range tests {
		task, err := document.Decode([]byte(base + tt.task + "}"))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		p, err := Compile(task, config.Default(), tt.flags)
		var bad *document.InputError
		switch refused := tt.pointer != "" || tt.name[:3] == "bad"; {
		case refused && (!errors.As(err, &bad) || bad.Details[0].Path != tt.pointer):
			t.Errorf("%s: %v", tt.name, err)
		case !refused && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case !refused && p.Session != tt.session:
			t.Errorf("%s: session %q", tt.name, p.Session)
		}
		if err != nil {
			continue
		}
		saves := 0
		for _, ph := range p.Phases {
			if ph.Name == PhaseSave {
				saves++
			}
		}
		if (saves == 1) != (tt.session != "") {
			t.Errorf("%s: phases %+v", tt.name, p.Phases)
		}
	}
}
