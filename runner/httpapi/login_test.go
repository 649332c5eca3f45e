package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/runner/config"
)

func TestAPageSignsInUsesItsTokenAndSignsOut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var link LoginCode
	a := r.call(http.MethodPost, "/api/login-codes", "")
	if err := json.Unmarshal(a.body, &link); err != nil || a.status != 200 || link.URL != "http://"+r.addr+"/#code="+link.Code {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := r.callAs("", http.MethodPost, "/api/login", `{"code":"`+link.Code+`"}`, "Origin", "http://127.0.0.1:3000"); a.status != 403 {
		t.Errorf("another site signs in: %d", a.status)
	}
	for body, want := range map[string]int{`{"code":"00"}`: 401, `{}`: 401, `{"code":1}`: 400, `[]`: 400, "": 400} {
		if a := r.callAs("", http.MethodPost, "/api/login", body); a.status != want {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	var page LoginAnswer
	a = r.callAs("", http.MethodPost, "/api/login", `{"code":"`+link.Code+`"}`, "User-Agent", "A browser")
	if err := json.Unmarshal(a.body, &page); err != nil || a.status != 200 || len(page.Token) != 64 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := r.callAs("", http.MethodPost, "/api/login", `{"code":"`+link.Code+`"}`); a.status != 401 {
		t.Errorf("the code is good twice: %d", a.status)
	}
	mine := "Bearer " + page.Token
	if a := r.callAs(mine, http.MethodPost, "/api/login-codes", ""); a.status != 403 {
		t.Errorf("a page signs another one in: %d %s", a.status, a.body)
	}
	var list []PageSession
	a = r.callAs(mine, http.MethodGet, "/api/web-sessions", "")
	if err := json.Unmarshal(a.body, &list); err != nil || len(list) != 1 || !list[0].Current || list[0].Label != "A browser" || strings.Contains(string(a.body), page.Token) {
		t.Errorf("%d %s", a.status, a.body)
	}
	// A stream of a page ends with its session.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.addr+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", mine)
	err = r.messages(req, func(m message) bool {
		if m.event == "snapshot" {
			if a := r.call(http.MethodDelete, "/api/web-sessions/"+page.ID, ""); a.status != 204 {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		return true
	})
	if err != nil || ctx.Err() != nil {
		t.Errorf("the stream of a page that was signed out: %v", err)
	}
	if a := r.callAs(mine, http.MethodGet, "/api/runs", ""); a.status != 401 {
		t.Errorf("%d", a.status)
	}
	if a := r.call(http.MethodDelete, "/api/web-sessions/"+page.ID, ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for range 10 {
		a = r.callAs("", http.MethodPost, "/api/login", `{"code":"guess"}`)
	}
	if a.status != 429 || a.header.Get("Retry-After") == "" {
		t.Errorf("guessing goes on: %d %s", a.status, a.body)
	}
	if strings.Contains(r.log.String(), page.Token) || strings.Contains(r.log.String(), link.Code) {
		t.Error("the log holds a secret")
	}
}

func TestARepositoryIsShownWithItsState(t *testing.T) {
	t.Parallel()
	repo := gitdifftest.New(t)
	repo.Write("a", "1\n")
	repo.Commit("first")
	repo.Git("branch", "other")
	repo.Write("a", "2\n")
	repo.Write("b", "new\n")
	empty := gitdifftest.Init(t, t.TempDir())
	r := newRig(t, func(o *Options) { o.Config.Serve = config.Serve{RepoRoots: []string{repo.Dir, empty.Dir}} })
	var list []Workspace
	a := r.call(http.MethodGet, "/api/workspaces", "")
	if err := json.Unmarshal(a.body, &list); err != nil || len(list) != 2 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, w := range list {
		var one WorkspaceDetail
		a := r.call(http.MethodGet, "/api/workspaces/"+w.ID, "")
		if err := json.Unmarshal(a.body, &one); err != nil || a.status != 200 || one.Problem != "" || one.Dirty == nil {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if w.Root == empty.Dir {
			if one.Commit != "" || len(one.Branches) != 0 || one.Head == "" {
				t.Errorf("%s", a.body)
			}
			continue
		}
		if one.Head == "" || len(one.Branches) != 2 || one.Branches[1] != "other" && one.Branches[0] != "other" || one.Commit == "" ||
			one.Dirty.Clean || one.Dirty.Modified != 1 || one.Dirty.Untracked != 1 || len(one.Dirty.Names) != 2 {
			t.Errorf("%s", a.body)
		}
	}
	if a := r.call(http.MethodGet, "/api/workspaces/0000", ""); a.status != 404 {
		t.Errorf("%d", a.status)
	}
}
