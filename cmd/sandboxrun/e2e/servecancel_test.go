package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// post sends a JSON body with the token and returns status and body.
func (s *served) post(path, body string) (int, []byte) {
	s.rig.t.Helper()
	return s.send(http.MethodPost, path, body, "Content-Type", "application/json")
}

// firstRun waits for the only run of the server's list to be in a phase.
func (s *served) firstRun() (id string) {
	s.rig.t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // nothing announces the run
		var page struct {
			Runs []struct {
				RunID string `json:"run_id"`
				State string `json:"state"`
			} `json:"runs"`
		}
		if _, body := s.get("/api/runs"); json.Unmarshal(body, &page) == nil && len(page.Runs) == 1 && page.Runs[0].State == "running" {
			return page.Runs[0].RunID
		}
	}
	s.rig.t.Fatal("the run is not listed")
	return ""
}

// A run of a terminal is cancelled through the server: it ends with its result, and nothing is left behind.
func TestRunIsCancelledThroughTheServer(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	s := rig.serve()
	task, err := json.Marshal(repo.task("echo half > half.txt; sleep 100"))
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan outcome, 1)
	go func() { ran <- rig.run(task, "execute", "--quiet", "-") }()
	run := s.firstRun()
	for range 2 {
		if status, body := s.post("/api/runs/"+run+"/cancel", `{"reason":"not needed"}`); status != http.StatusAccepted {
			t.Errorf("cancel: %d %s", status, body)
		}
	}
	o := <-ran
	if !strings.Contains(string(o.stdout), `"cancelled"`) || !strings.Contains(string(o.stdout), "not needed") {
		t.Errorf("exit %d: %.2000s", o.exit, o.stdout)
	}
	if status, body := s.post("/api/runs/"+run+"/cancel", ""); status != http.StatusConflict {
		t.Errorf("cancelled after the end: %d %s", status, body)
	}
	if branches := repo.git("branch", "--list", "sandboxrun/*"); branches != "" {
		t.Errorf("a cancelled run landed %s", branches)
	}
}
