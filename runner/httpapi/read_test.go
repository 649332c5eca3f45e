package httpapi

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "sandboxrun/agents/all" // as the program has them
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

// begun makes a run that has begun, with some events.
func (r *rig) begun() (*state.RunDir, *journal.Journal) {
	r.t.Helper()
	d, err := r.state.NewRun()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := d.WritePlan(&plan.Plan{TaskID: "task-" + d.ID(), RepoRoot: "/repo/one", Objective: "Make it good.", MaxRuntimeSeconds: 60}); err != nil {
		r.t.Fatal(err)
	}
	j, err := d.Journal()
	if err != nil {
		r.t.Fatal(err)
	}
	return d, j
}

// say appends an event.
func (r *rig) say(j *journal.Journal, kind, data string) {
	r.t.Helper()
	if _, err := j.Append(journal.Event{Time: time.Now(), Phase: "agent", Kind: kind, Data: json.RawMessage(data)}); err != nil {
		r.t.Fatal(err)
	}
}

// end gives a run its last event and its result.
func (r *rig) end(d *state.RunDir, j *journal.Journal) {
	r.t.Helper()
	r.say(j, journal.EventRunEnded, `{"status":"success"}`)
	now := time.Now().UTC()
	res := &document.Result{SchemaVersion: document.SchemaVersion, TaskID: "task-" + d.ID(), RunID: d.ID(), Status: document.StatusSuccess, Summary: "It is \u202egood.",
		FilesChanged: []document.FileChange{}, CommandsRun: []document.CommandRun{}, Logs: []string{}, Issues: []document.Issue{}, Constraints: []document.Judged{},
		Acceptance: []document.Judged{}, Timing: map[string]int64{"total": 1}, StartedAt: now, EndedAt: now}
	if err := d.Finish(res, j.Close, nil); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) ended() *state.RunDir {
	r.t.Helper()
	d, j := r.begun()
	r.say(j, journal.EventRunStarted, `{}`)
	if err := os.WriteFile(d.PatchPath(), []byte("diff --git a/x b/x\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.LogsDir(), "001.txt"), []byte("<script>0123456789</script>"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.end(d, j)
	return d
}

func TestRunsAreListedShownAndRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first, second := r.ended(), r.ended()
	live, j := r.begun()
	r.say(j, journal.EventPhaseStarted, `{}`)
	var page struct {
		Runs []struct {
			RunID string `json:"run_id"`
			State string `json:"state"`
			Phase string `json:"phase"`
		} `json:"runs"`
		Next string `json:"next"`
	}
	get := func(path string, into any) {
		t.Helper()
		a := r.call(http.MethodGet, path, "")
		if a.status != 200 || json.Unmarshal(a.body, into) != nil {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	get("/api/runs?limit=2", &page)
	if len(page.Runs) != 2 || page.Runs[0].RunID != live.ID() || page.Runs[0].State != "running" || page.Runs[0].Phase != "agent" || page.Runs[1].RunID != second.ID() {
		t.Errorf("%+v", page)
	}
	before := page.Next
	page.Runs, page.Next = nil, ""
	get("/api/runs?limit=2&before="+before, &page)
	if len(page.Runs) != 1 || page.Runs[0].RunID != first.ID() || page.Next != "" {
		t.Errorf("%+v", page)
	}
	get("/api/runs?state=ended&q=task-"+first.ID(), &page)
	if len(page.Runs) != 1 {
		t.Errorf("%+v", page)
	}
	var detail struct {
		State  string           `json:"state"`
		Plan   *plan.Plan       `json:"plan"`
		Result *document.Result `json:"result"`
	}
	get("/api/runs/"+first.ID(), &detail)
	if detail.State != "ended" || detail.Plan == nil || detail.Result == nil || detail.Result.RunID != first.ID() {
		t.Errorf("%+v", detail)
	}
	if text := r.call(http.MethodGet, "/api/runs/"+first.ID(), "").body; strings.Contains(string(text), "\u202e") {
		t.Error("a character that turns the direction of text is not escaped")
	}
	if a := r.call(http.MethodDelete, "/api/runs/"+live.ID(), ""); a.status != 409 || a.code() != "not_ended" {
		t.Errorf("a live run: %d %s", a.status, a.body)
	}
	if a := r.call(http.MethodDelete, "/api/runs/"+first.ID(), ""); a.status != 204 || len(a.body) != 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.call(http.MethodGet, "/api/runs/"+first.ID(), ""); a.status != 404 {
		t.Errorf("a removed run: %d", a.status)
	}
	var workspaces []Workspace
	if get("/api/workspaces", &workspaces); len(workspaces) != 1 || workspaces[0].Runs != 2 || workspaces[0].Name != "one" {
		t.Errorf("%+v", workspaces)
	}
	r.end(live, j)
}

func TestOnlyWholeIDsNameRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.ended()
	for _, id := range []string{d.ID()[:20], strings.ToUpper(d.ID()), d.ID() + "x", "..", "....", ".new-" + d.ID(), "%2e%2e", "01arz3ndektsv4rrffq69g5fav", strings.Repeat("a", 3000)} {
		for _, tail := range []string{"", "/diff", "/logs", "/logs/001.txt"} {
			if a := r.call(http.MethodGet, "/api/runs/"+id+tail, ""); a.status != 404 || a.code() != "not_found" {
				t.Errorf("%s%s: %d %s", clip(id), tail, a.status, a.body)
			}
		}
		if a := r.call(http.MethodDelete, "/api/runs/"+id, ""); a.status != 404 {
			t.Errorf("%s: %d %s", clip(id), a.status, a.body)
		}
	}
	for _, name := range []string{"..", "../result.json", "%2e%2e%2fresult.json", ".hidden", "none.txt", "001.txt/x"} {
		if a := r.call(http.MethodGet, "/api/runs/"+d.ID()+"/logs/"+name, ""); a.status != 404 {
			t.Errorf("log %s: %d %s", name, a.status, a.body)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(d.LogsDir(), "link")); err != nil {
		t.Fatal(err)
	}
	if a := r.call(http.MethodGet, "/api/runs/"+d.ID()+"/logs/link", ""); a.status != 404 {
		t.Errorf("a link out of the logs: %d", a.status)
	}
}

func TestParametersAreChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, query := range []string{"limit=0", "limit=201", "limit=x", "limit=1e2", "before=short", "state=done", "status=x", "unknown=1", "q=" + strings.Repeat("x", 201), "Limit=1"} {
		if a := r.call(http.MethodGet, "/api/runs?"+query, ""); a.status != 400 || a.code() != "bad_parameter" {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
}

func TestFilesComeAsBytesAndInRanges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.ended()
	base := "/api/runs/" + d.ID()
	if a := r.call(http.MethodGet, base+"/diff", ""); a.status != 200 || string(a.body) != "diff --git a/x b/x\n" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/x-diff") {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	a := r.call(http.MethodGet, base+"/logs/001.txt", "", "Range", "bytes=8-17")
	if a.status != 206 || string(a.body) != "0123456789" || a.header.Get("Content-Disposition") != "attachment" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	if a := r.call(http.MethodGet, base+"/logs/001.txt", "", "Range", "bytes=1000-"); a.status != 416 {
		t.Errorf("%d %s", a.status, a.body)
	}
	var list []LogFile
	if a := r.call(http.MethodGet, base+"/logs", ""); json.Unmarshal(a.body, &list) != nil || len(list) != 1 || list[0] != (LogFile{"001.txt", 27}) {
		t.Errorf("%s", a.body)
	}
	live, j := r.begun()
	if a := r.call(http.MethodGet, "/api/runs/"+live.ID()+"/diff", ""); a.status != 409 || a.code() != "not_ended" {
		t.Errorf("%d %s", a.status, a.body)
	}
	r.end(live, j)
	if a := r.call(http.MethodGet, "/api/runs/"+live.ID()+"/diff", ""); a.status != 200 || len(a.body) != 0 {
		t.Errorf("no change: %d %s", a.status, a.body)
	}
}

func TestThisMachineIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for path, want := range map[string]string{
		"/api/agents": `"name": "claude"`, "/api/agents/CLAUDE_CODE": `"name": "claude"`, "/api/agents/claude/availability": `"status": "`,
		"/api/profiles": `"variant": "PLAN"`, "/api/profiles/codex": `"agent": "codex"`, "/api/schemas/task": `urn:sandboxrun:schema:task`,
		"/api/doctor": `"level": "PASS"`, "/api/sessions": "[]", "/api/workspaces": "[]", "/api/runs": `"runs": []`,
	} {
		if a := r.call(http.MethodGet, path, ""); a.status != 200 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %.300s", path, a.status, a.body)
		}
	}
	for _, path := range []string{"/api/agents/nobody", "/api/agents/nobody/availability", "/api/profiles/nobody", "/api/schemas/nothing", "/api/sessions/none"} {
		if a := r.call(http.MethodGet, path, ""); a.status != 404 {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := r.call(http.MethodDelete, "/api/sessions/none", ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestPlansAreReadAsStrictlyAsTasks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer func() {
		if t.Failed() {
			t.Log(r.log)
		}
	}()
	task := `{"objective":"Do it.","context":{"repo_root":"/repo"},"execution_mode":"command","suggested_commands":["true"]}`
	if a := r.call(http.MethodPost, "/api/plan", task); a.status != 200 || !strings.Contains(string(a.body), `"repo_root": "/repo"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	for name, doc := range map[string]string{
		"twice": strings.Replace(task, "{", `{"objective":"x",`, 1), "case": strings.Replace(task, "objective", "Objective", 1),
		"two": task + task, "null": "null", "array": "[]", "nul": strings.Replace(task, "Do it", `a\u0000`, 1), "utf8": strings.Replace(task, "Do it", "\xff", 1),
		"unknown": strings.Replace(task, "{", `{"extra":1,`, 1), "deep": strings.Repeat("[", 20000), "empty": " ", "comment": "//" + task,
	} {
		if a := r.call(http.MethodPost, "/api/plan", doc); a.status != 400 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := r.call(http.MethodPost, "/api/plan", `{"objective":1,"extra":2}`); !strings.Contains(string(a.body), `"/objective"`) || !strings.Contains(string(a.body), `"/extra"`) {
		t.Errorf("not every problem is listed: %s", a.body)
	}
}
