package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"sandboxrun/runner/review"
)

// reviewAndApply looks at a change that adds new.txt with "new" in it, then brings it into the working tree.
func (s *served) reviewAndApply(repo *repo, run string) {
	t := s.rig.t
	t.Helper()
	at := "/api/runs/" + run
	var page review.Change
	status, body := s.send(http.MethodGet, at+"/diff", "", "Accept", "application/json")
	if err := json.Unmarshal(body, &page); err != nil || status != 200 || len(page.Files) != 1 || len(page.Files[0].Hunks) != 1 ||
		page.Files[0].Hunks[0].Lines[0] != "+new" || page.Files[0].ChangeType != "added" {
		t.Errorf("%d: %v: %s", status, err, body)
	}
	for query, want := range map[string]int{"?limit=0": 400, "?lines=x": 400, "?line=3": 400, "?path=a&path_b64=YQ==": 400, "?path=none": 404, "?summary=1": 400, "?context=3": 400,
		"?path=new.txt&line=1": 200, "?path_b64=bmV3LnR4dA==&summary=true": 200, "?offset=9": 200} {
		if status, body := s.send(http.MethodGet, at+"/diff"+query, "", "Accept", "application/json"); status != want {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	for query, want := range map[string]int{"?path=new.txt": 200, "?path=new.txt&side=base": 404, "": 400, "?path=x&side=left": 400, "?path=../x": 404, "?path=.git": 404} {
		status, body := s.get(at + "/file" + query)
		if status != want || want == 200 && string(body) != "new\n" {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	mine := filepath.Join(repo.dir, "new.txt")
	if status, body := s.post(at+"/apply", `{"dry_run":true}`); status != 200 || !strings.Contains(string(body), "new.txt") {
		t.Errorf("%d %s", status, body)
	}
	if _, err := os.Lstat(mine); err == nil {
		t.Error("a trial wrote a file")
	}
	if err := os.WriteFile(mine, []byte("of the user\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{`{"dry_run":true}`, `{}`} {
		if status, body := s.post(at+"/apply", request); status != 409 || code(body) != "apply_conflict" || !strings.Contains(string(body), "new.txt") {
			t.Errorf("over a file of the user: %d %s", status, body)
		}
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if status, body := s.post(at+"/apply", `{"refused":[],"force":true}`); status != 400 {
		t.Errorf("%d %s", status, body)
	}
	if status, body := s.post(at+"/apply", `{}`); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "new\n" {
		t.Errorf("applied: %q, %v", text, err)
	}
	if err := os.Remove(mine); err != nil {
		t.Error(err)
	}
}
