package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/runner/view"
)

// opened is what the server answers to whoever begins a session.
type opened struct {
	SessionID string       `json:"session_id"`
	Run       view.RunView `json:"run"`
	CompareID string       `json:"compare_id"`
	Sessions  []struct {
		SessionID string       `json:"session_id"`
		Run       view.RunView `json:"run"`
	} `json:"sessions"`
}

func (s *served) begin(request map[string]any) opened {
	s.rig.t.Helper()
	status, body := s.post("/api/sessions", string(marshal(s.rig.t, request)))
	var o opened
	if err := json.Unmarshal(body, &o); err != nil || status != http.StatusAccepted {
		s.rig.t.Fatalf("%d: %v: %s", status, err, body)
	}
	return o
}

// All tasks of a comparison are accepted or none, each in a session of its own. The same task with its id is accepted once.
func TestAComparisonIsAcceptedAsAWhole(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.config["serve"] = map[string]any{"max_parallel": 1, "queue": 2}
	rig.model(modelserver.Scenario{Name: "mend", Steps: []modelserver.Step{say("Mended.")}})
	s := rig.serve()
	holder := s.submit(taskNamed(repo, "holder", "sleep 1000"))
	waitFor(t, "the run that takes the only place", func() bool {
		_, body := s.get("/api/runs/" + holder.RunID)
		return strings.Contains(string(body), `"state": "running"`)
	})
	request := map[string]any{"prompt": "Mend it. Then rest.", "repo_root": repo.dir, "executor": []any{"claude", "claude", map[string]any{"name": "claude", "variant": "PLAN"}}}
	if status, body := s.post("/api/sessions", string(marshal(t, request))); status != 503 || code(body) != "queue_full" {
		t.Errorf("%d %s", status, body)
	}
	if _, body := s.get("/api/runs?state=queued"); strings.Contains(string(body), "run_id") {
		t.Errorf("a part of the comparison was accepted: %s", body)
	}
	request["executor"] = []any{"claude", "nobody"}
	if status, body := s.post("/api/sessions", string(marshal(t, request))); status != 400 || !strings.Contains(string(body), `"/executor/1"`) {
		t.Errorf("%d %s", status, body)
	}
	request["executor"] = []any{"claude", map[string]any{"name": "claude", "variant": "PLAN"}}
	o := s.begin(request)
	if len(o.Sessions) != 2 || o.CompareID == "" || o.Sessions[0].SessionID == o.Sessions[1].SessionID || o.Sessions[1].Run.Variant != "PLAN" ||
		o.Sessions[0].Run.Objective != "Mend it." || o.Sessions[0].Run.CompareID != o.CompareID {
		t.Errorf("%+v", o)
	}
	_, body := s.get("/api/runs?compare_id=" + o.CompareID)
	for _, one := range o.Sessions {
		if !strings.Contains(string(body), one.Run.RunID) {
			t.Errorf("%s is not listed: %s", one.Run.RunID, body)
		}
		if status, body := s.get("/api/sessions/" + one.SessionID); status != 200 || !strings.Contains(string(body), one.Run.RunID) {
			t.Errorf("%d %s", status, body)
		}
		if status, body := s.post("/api/runs/"+one.Run.RunID+"/cancel", ""); status != http.StatusAccepted {
			t.Errorf("%d %s", status, body)
		}
	}
	again := map[string]any{"workspace_id": holder.WorkspaceID, "task": map[string]any{"task_id": "same", "objective": "Mend it.", "instructions": "Do.", "agent": "claude"}}
	first := s.begin(again)
	if second := s.begin(again); second.Run.RunID != first.Run.RunID || second.SessionID != first.SessionID || first.Run.RepoRoot != holder.RepoRoot {
		t.Errorf("%+v, then %+v", first, second)
	}
	again["session_id"], again["task"] = first.SessionID, map[string]any{"objective": "Mend it.", "instructions": "Do."}
	if status, body := s.post("/api/sessions", string(marshal(t, again))); status != 409 || code(body) != "session_busy" {
		t.Errorf("a session that is busy: %d %s", status, body)
	}
	for _, id := range []string{first.Run.RunID, holder.RunID} {
		if status, body := s.post("/api/runs/"+id+"/cancel", ""); status != http.StatusAccepted {
			t.Errorf("%d %s", status, body)
		}
	}
	for _, id := range []string{holder.RunID, first.Run.RunID} {
		if res, _ := rig.await(id); !hasCode(res, "cancelled") {
			t.Errorf("%v", codes(res))
		}
	}
	rig.idle()
}
