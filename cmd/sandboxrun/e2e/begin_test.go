package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/runner/document"
)

// One sentence, said in a directory below the root, gives a branch; the task is kept with the run and runs again.
func TestRunTakesASentence(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.model(mending())
	var out, errs bytes.Buffer
	c := rig.command("run", "make the tests pass", "--check", "sh test.sh", "--file", "../sum.sh", "--time", "150s", "--land", "branch")
	c.Dir = filepath.Join(repo.dir, "sub")
	if err := os.Mkdir(c.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	var res document.Result
	if err := json.Unmarshal(out.Bytes(), &res); err != nil {
		t.Fatal(err)
	}
	if res.Status != document.StatusSuccess || res.Git.Branch == "" || len(res.Acceptance) != 1 || res.Acceptance[0].Verdict != "pass" {
		t.Errorf("%s, %+v, %+v", res.Status, res.Git, res.Acceptance)
	}
	kept := filepath.Join(rig.state, "runs", res.RunID, "task.json")
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"make the tests pass"`, `"sum.sh"`, repo.dir, `"max_runtime_seconds": 150`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the kept task has no %s:\n%s", part, text)
		}
	}
	for _, part := range []string{"check      sh test.sh", kept} {
		if !strings.Contains(errs.String(), part) {
			t.Errorf("%q is not shown:\n%s", part, errs.String())
		}
	}
	if o := rig.run(nil, "plan", kept); o.exit != 0 {
		t.Errorf("the kept task does not compile: %s", o.stderr)
	}
}
