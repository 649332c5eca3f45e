package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
)

// Every problem of a request to begin a session is told at once, at the place where the caller wrote it.
func TestWrongSessionsAreRefusedWithEveryProblem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.ended()
	for name, c := range map[string]struct {
		body string
		want []string // places
	}{
		"nothing":            {`{}`, []string{"/prompt", "/repo_root"}},
		"twice":              {`{"prompt":"a","prompt":"b"}`, []string{"/prompt"}},
		"unknown":            {`{"prompt":"a","repo_root":"/r","agent":"claude"}`, []string{"/agent"}},
		"both":               {`{"prompt":"a","repo_root":"/r","task":{}}`, []string{"/prompt"}},
		"no object":          {`{"repo_root":"/r","task":[]}`, []string{"/task"}},
		"null":               {`{"repo_root":"/r","task":null}`, []string{"/task"}},
		"task of a typo":     {`{"repo_root":"/r","task":{"objectiv":"x","instructions":"y"}}`, []string{"/task/objective", "/task/objectiv"}},
		"two repositories":   {`{"repo_root":"/r","task":{"objective":"x","instructions":"y","context":{"repo_root":"/q"}}}`, []string{"/repo_root"}},
		"relative":           {`{"prompt":"a","repo_root":"r"}`, []string{"/repo_root"}},
		"no such workspace":  {`{"prompt":"a","workspace_id":"0123"}`, []string{"/workspace_id"}},
		"one of a list":      {`{"prompt":"a","repo_root":"/r","executor":["claude"]}`, []string{"/executor"}},
		"five":               {`{"prompt":"a","repo_root":"/r","executor":["a","b","c","d","e"]}`, []string{"/executor"}},
		"nobody":             {`{"prompt":"a","repo_root":"/r","executor":["claude","nobody"]}`, []string{"/executor/1"}},
		"a number":           {`{"prompt":"a","repo_root":"/r","executor":5}`, []string{"/executor"}},
		"two agents":         {`{"repo_root":"/r","executor":"claude","task":{"objective":"x","instructions":"y","agent":"codex"}}`, []string{"/executor"}},
		"variant of a list":  {`{"prompt":"a","repo_root":"/r","variant":"PLAN","executor":["claude","codex"]}`, []string{"/executor"}},
		"form of a variant":  {`{"prompt":"a","repo_root":"/r","variant":"plan","executor":"claude"}`, []string{"/variant"}},
		"id of a session":    {`{"prompt":"a","repo_root":"/r","session_id":"../x"}`, []string{"/session_id"}},
		"session and list":   {`{"prompt":"a","repo_root":"/r","session_id":"s","executor":["claude","codex"]}`, []string{"/session_id"}},
		"task_id and list":   {`{"repo_root":"/r","executor":["claude","codex"],"task":{"task_id":"t","objective":"x","instructions":"y"}}`, []string{"/task/task_id"}},
		"no agent's work":    {`{"repo_root":"/r","task":{"objective":"x","execution_mode":"command","suggested_commands":["true"]}}`, []string{"/session_id"}},
		"names in two cases": {`{"repo_root":"/r","task":{"objective":"x","Objective":"y"}}`, []string{"/task/Objective"}},
	} {
		a := r.call(http.MethodPost, "/api/sessions", c.body)
		var p struct {
			Error document.ErrorBody `json:"error"`
		}
		if err := json.Unmarshal(a.body, &p); err != nil || a.status != 400 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		var places []string
		for _, detail := range p.Error.Details {
			places = append(places, detail.Path)
		}
		if got := strings.Join(places, " "); got != strings.Join(c.want, " ") {
			t.Errorf("%s: %q: %s", name, got, a.body)
		}
	}
	if list, err := r.state.RunIDs(); err != nil || len(list) != 1 || list[0] != d.ID() {
		t.Errorf("runs %v, %v", list, err)
	}
}

// A session is there from the moment its first run is, and tells what goes on in it.
func TestASessionIsShownBeforeItsFirstRunEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, j := r.begun()
	if err := d.WritePlan(&plan.Plan{TaskID: "t", RepoRoot: "/repo/one", Objective: "Work.", Session: "talk", MaxRuntimeSeconds: 60, Agent: &plan.Agent{Name: "claude"}}); err != nil {
		t.Fatal(err)
	}
	var one SessionDetail
	a := r.call(http.MethodGet, "/api/sessions/talk", "")
	if err := json.Unmarshal(a.body, &one); err != nil || a.status != 200 || !one.Busy || len(one.Active) != 1 || one.Active[0].RunID != d.ID() || one.Agent != "claude" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.call(http.MethodGet, "/api/sessions", ""); !strings.Contains(string(a.body), `"talk"`) || !strings.Contains(string(a.body), `"running"`) {
		t.Errorf("%s", a.body)
	}
	if a := r.call(http.MethodGet, "/api/sessions/other", ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
	r.end(d, j)
	if a := r.call(http.MethodGet, "/api/sessions/talk", ""); a.status != 404 {
		t.Errorf("after a run that left no session: %d %s", a.status, a.body)
	}
}
