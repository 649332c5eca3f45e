package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/state"
)

func (r *rig) ask(d *state.RunDir, id string, deadline time.Duration) {
	r.t.Helper()
	err := d.Mailbox().Ask(mailbox.Asked{ID: id, Run: d.ID(), Digest: "digest-" + id, Tool: "Bash", Action: agents.ActionCommand,
		Input: json.RawMessage(`{"command":"rm -r <x>"}`), InputBytes: 23, Complete: true, AskedAt: time.Now().UTC(), Deadline: time.Now().Add(deadline).UTC()}, nil)
	if err != nil {
		r.t.Fatal(err)
	}
}

func TestRequestsOfAgentsAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, j := r.begun()
	r.say(j, journal.EventRunStarted, `{}`)
	r.ask(d, "a1", time.Minute)
	r.ask(d, "a2", time.Hour)
	r.ask(d, "a3", -time.Second)
	base := "/api/runs/" + d.ID() + "/approvals"
	var list []struct {
		ID    string `json:"id"`
		State string `json:"state"`
	}
	if a := r.call(http.MethodGet, "/api/approvals", ""); json.Unmarshal(a.body, &list) != nil || len(list) != 2 || list[0].ID != "a1" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.call(http.MethodGet, base, ""); json.Unmarshal(a.body, &list) != nil || len(list) != 3 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for name, c := range map[string]struct {
		path, body string
		status     int
		code       string
	}{
		"another digest":  {"/a1", `{"digest":"digest-a2","decision":"allow"}`, 409, "digest_mismatch"},
		"no digest":       {"/a1", `{"decision":"allow"}`, 400, "invalid"},
		"no decision":     {"/a1", `{"digest":"digest-a1"}`, 400, "invalid"},
		"odd decision":    {"/a1", `{"digest":"digest-a1","decision":"yes"}`, 400, "invalid"},
		"twice":           {"/a1", `{"digest":"digest-a1","decision":"deny","decision":"allow"}`, 400, "invalid"},
		"another case":    {"/a1", `{"digest":"digest-a1","Decision":"allow"}`, 400, "invalid"},
		"unknown field":   {"/a1", `{"digest":"digest-a1","decision":"allow","by":"root"}`, 400, "invalid"},
		"type":            {"/a1", `{"digest":"digest-a1","decision":"allow","remember":"true"}`, 400, "invalid"},
		"empty":           {"/a1", ``, 400, "malformed"},
		"unknown request": {"/a9", `{"digest":"x","decision":"allow"}`, 404, "not_found"},
		"path":            {"/..", `{"digest":"x","decision":"allow"}`, 404, "not_found"},
		"too late":        {"/a3", `{"digest":"digest-a3","decision":"allow"}`, 409, "expired"},
	} {
		if a := r.call(http.MethodPost, base+c.path, c.body); a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	// Of many answers at once exactly one counts.
	var wg sync.WaitGroup
	answers := make(chan answer, 16)
	for i := range 16 {
		wg.Go(func() {
			decision := map[bool]string{true: "allow", false: "deny"}[i%2 == 0]
			answers <- r.call(http.MethodPost, base+"/a1", `{"digest":"digest-a1","decision":"`+decision+`"}`)
		})
	}
	wg.Wait()
	close(answers)
	won := 0
	for a := range answers {
		if a.status == 200 && strings.Contains(string(a.body), `"by": "api"`) {
			won++
		} else if a.status != 409 || a.code() != "already_answered" {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if won != 1 {
		t.Errorf("%d answers counted", won)
	}
	if text := string(r.call(http.MethodGet, "/metrics", "").body); !strings.Contains(text, "sandboxrun_approvals_pending 1") || !strings.Contains(text, "sandboxrun_runs_active 1") {
		t.Error("what waits is not counted")
	}
	r.end(d, j)
	if a := r.call(http.MethodPost, base+"/a2", `{"digest":"digest-a2","decision":"allow"}`); a.status != 409 || a.code() != "run_ended" {
		t.Errorf("after the end: %d %s", a.status, a.body)
	}
}

func TestRunsAreCancelledOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, j := r.begun()
	r.say(j, journal.EventRunStarted, `{}`)
	path := "/api/runs/" + d.ID() + "/cancel"
	for _, bad := range []string{`{"reason":1}`, `{"why":"x"}`, `[]`, `{"reason":"x"}{}`} {
		if a := r.call(http.MethodPost, path, bad); a.status != 400 {
			t.Errorf("%s: %d %s", bad, a.status, a.body)
		}
	}
	if _, asked, err := d.Mailbox().Cancelled(); asked || err != nil {
		t.Errorf("a refused call cancelled: %v", err)
	}
	for _, reason := range []string{`{"reason":"first"}`, `{"reason":"second"}`, ``} {
		if a := r.call(http.MethodPost, path, reason); a.status != 202 || !strings.Contains(string(a.body), `"state": "running"`) {
			t.Errorf("%s: %d %s", reason, a.status, a.body)
		}
	}
	if c, asked, err := d.Mailbox().Cancelled(); !asked || err != nil || c.Reason != "first" || c.By != "api" {
		t.Errorf("%+v, %v, %v", c, asked, err)
	}
	r.end(d, j)
	if a := r.call(http.MethodPost, path, ""); a.status != 409 || a.code() != "run_ended" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.call(http.MethodPost, "/api/runs/"+state.NewID()+"/cancel", ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
