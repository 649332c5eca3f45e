package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandboxrun/internal/testenv"
	"sandboxrun/runner/view"
)

// ended waits for the end of a run.
func (s *served) ended(run string) {
	s.rig.t.Helper()
	waitFor(s.rig.t, "the end of "+run, func() bool {
		_, body := s.get("/api/runs/" + run)
		var v view.RunView
		if err := json.Unmarshal(body, &v); err != nil {
			s.rig.t.Fatalf("%v: %s", err, body)
		}
		return v.State == view.Ended || v.State == view.Refused
	})
}

// opened begins sessions and returns what the server says of them.
func (s *served) opened(request map[string]any) (first view.RunView, session, compare string) {
	s.rig.t.Helper()
	status, body := s.post("/api/sessions", string(marshal(s.rig.t, request)))
	var answer struct {
		SessionID string       `json:"session_id"`
		Run       view.RunView `json:"run"`
		Sessions  []struct {
			Run view.RunView `json:"run"`
		} `json:"sessions"`
		CompareID string `json:"compare_id"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusAccepted {
		s.rig.t.Fatalf("%d: %v: %s", status, err, body)
	}
	for _, one := range answer.Sessions {
		s.ended(one.Run.RunID)
	}
	return answer.Run, answer.SessionID, answer.CompareID
}

// Every screen with what it is for, in both themes and at both widths. PAGE_PICTURES names a directory for pictures.
func TestScreensOfThePage(t *testing.T) {
	t.Parallel()
	testenv.NeedsAll(t, "every screen in four forms takes two minutes")
	rig := newRig(t)
	work := mending()
	work.Steps = slices.Repeat(work.Steps, 8) // of four runs, two of them side by side
	rig.models(work)
	repo := newRepo(t, sample)
	s := rig.serve()
	agent := agentTask(repo)
	agent["acceptance_criteria"] = []any{map[string]any{"command": "sh test.sh"}, "The script prints the sum."}
	agent["constraints"] = []any{"Do not add dependencies."}
	first, session, _ := s.opened(map[string]any{"task": agent})
	s.ended(first.RunID)
	_, _, compare := s.opened(map[string]any{"task": agent, "executor": []any{"claude", map[string]any{"name": "claude", "variant": "PLAN"}}})
	risky := taskNamed(repo, "risky", "mkdir -p .github/workflows; printf 'on: push\\n' > .github/workflows/ci.yml; chmod +x test.sh; printf 'a \\342\\200\\256 b\\n' >> README.md; sed -i 's/\\$1 - \\$2/$1 + $2/' sum.sh")
	risky["objective"] = "Run the tests in continuous integration and mend the sum."
	risky["acceptance_criteria"] = []any{map[string]any{"command": "sh test.sh"}}
	change := s.submit(risky)
	s.ended(change.RunID)
	asking := agentTask(repo)
	asking["objective"], asking["task_id"] = "Mend sum.sh, and ask before each step.", "asking"
	asking["approvals"] = map[string]any{"policy": "ask", "timeout_seconds": 1200}
	waits, _, _ := s.opened(map[string]any{"task": asking})
	waitFor(t, "a request", func() bool {
		_, body := s.get("/api/approvals")
		if _, v := s.get("/api/runs/" + waits.RunID); strings.Contains(string(v), "\"ended\"") {
			t.Fatalf("ended without asking: %s", v)
		}
		return len(body) > 10
	})
	pictures := os.Getenv("PAGE_PICTURES")
	if pictures != "" {
		var err error
		if pictures, err = filepath.Abs(pictures); err != nil {
			t.Fatal(err)
		}
	}
	screens := [][2]string{
		{"runs", "#/runs"}, {"new-task", "#/new"}, {"approvals", "#/approvals"}, {"run-asking", "#/runs/" + waits.RunID + "/activity"},
		{"activity", "#/runs/" + first.RunID + "/activity"}, {"verdict", "#/runs/" + first.RunID + "/verdict"}, {"changes", "#/runs/" + change.RunID + "/changes"},
		{"session", "#/sessions/" + session}, {"compare", "#/compare/" + compare}, {"agents", "#/agents"}, {"machine", "#/machine"}, {"nowhere", "#/nowhere"},
	}
	s.browse(5*time.Minute, "screens.mjs", string(marshal(t, screens)), pictures)
	if status, body := s.post("/api/runs/"+waits.RunID+"/cancel", "{}"); status != http.StatusAccepted && status != http.StatusOK {
		t.Errorf("cancel: %d %s", status, body)
	}
	s.ended(waits.RunID)
}
