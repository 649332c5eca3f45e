package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEndedRunsCanBeListedShownAppliedAndRemoved(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, _ := rig.execute(repo.task(mend, "rm old.txt", "mkdir d && echo x > d/x && ln -s x d/l"), "--land", "none")

	if o := rig.run(nil, "runs", "list"); o.exit != 0 || !strings.Contains(string(o.stdout), res.RunID) {
		t.Errorf("runs list: exit %d: %s", o.exit, o.stdout)
	}
	var list []map[string]any
	if o := rig.run(nil, "runs", "list", "--json"); json.Unmarshal(o.stdout, &list) != nil || len(list) != 1 {
		t.Errorf("runs list --json: %s", o.stdout)
	}
	if o := rig.run(nil, "runs", "show", res.RunID[:20]); o.exit != 0 || !strings.Contains(string(o.stdout), "sum.sh") {
		t.Errorf("runs show: exit %d: %s%s", o.exit, o.stdout, o.stderr)
	}
	if o := rig.run(nil, "runs", "logs", res.RunID); o.exit != 0 || !strings.Contains(string(o.stdout), "rm old.txt") {
		t.Errorf("runs logs: exit %d: %s", o.exit, o.stdout)
	}
	patch, err := os.ReadFile(res.Git.Patch)
	if err != nil {
		t.Fatal(err)
	}
	if o := rig.run(nil, "runs", "diff", res.RunID); string(o.stdout) != string(patch) {
		t.Errorf("runs diff differs from the patch:\n%s", o.stdout)
	}
	if o := rig.run(nil, "apply", res.RunID); o.exit != 0 {
		t.Errorf("apply: exit %d: %s%s", o.exit, o.stdout, o.stderr)
	}
	repo.git("add", "-A")
	if tree := repo.git("write-tree"); tree != res.Git.Tree {
		t.Errorf("applied tree is %s, the run's %s", tree, res.Git.Tree)
	}
	if o := rig.run(nil, "runs", "rm", res.RunID); o.exit != 0 {
		t.Errorf("runs rm: exit %d: %s", o.exit, o.stderr)
	}
	if _, err := os.Stat(filepath.Join(rig.state, "runs", res.RunID)); !os.IsNotExist(err) {
		t.Errorf("the run still exists: %v", err)
	}
}

func TestApplyNeverOverwritesTheUsersWork(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, _ := rig.execute(repo.task(mend, "rm old.txt"), "--land", "none")
	repo.write(map[string]string{"old.txt": "the user's own words\n"})
	before := fingerprint(t, repo.dir)
	for _, flags := range [][]string{{}, {"--three-way"}} {
		if o := rig.run(nil, append(append([]string{"apply"}, flags...), res.RunID)...); o.exit != 2 || !strings.Contains(string(o.stderr)+string(o.stdout), "old.txt") {
			t.Errorf("apply %v: exit %d: %s%s", flags, o.exit, o.stdout, o.stderr)
		}
	}
	if o := rig.run(nil, "apply", "--session", res.RunID); o.exit != 2 || !strings.Contains(string(o.stderr), "belongs to no session") {
		t.Errorf("apply --session: exit %d: %s", o.exit, o.stderr)
	}
	for name, sum := range fingerprint(t, repo.dir) {
		if before[name] != sum {
			t.Errorf("%s changed", name)
		}
	}
}
