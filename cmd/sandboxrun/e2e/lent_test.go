package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
)

const lent = "lent-for-the-box-0123456789"

// A runner that dies loses its knowledge of the task's secrets: the settler cannot tell whether the change contains
// one.
func TestChangeOfALostRunIsShownOnlyWithKnownSecrets(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]bool{"LENT_TOKEN": false, "LENT_NAME": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			task := repo.task("echo $" + name + " > config.txt")
			task["box"] = map[string]any{"env": map[string]any{name: lent}}
			if died, out := rig.dying(death{"run/trees", step.SideBefore, 1}, marshal(t, task), "execute", "-"); !died {
				t.Fatalf("not killed: %s", out)
			}
			if o := rig.run(nil, "reap"); o.exit != 0 {
				t.Fatalf("reap: exit %d: %s", o.exit, o.stderr)
			}
			run := soleRun(t, rig.state)
			res := storedResult(t, rig.state, run)
			if res.Status != document.StatusFailed || !hasCode(res, "runner_lost") || (len(res.FilesChanged) == 1) != shown {
				t.Errorf("%s %+v, files %+v", res.Status, res.Issues, res.FilesChanged)
			}
			holds := ""
			err := filepath.WalkDir(filepath.Join(rig.state, "runs", run), func(p string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				body, err := os.ReadFile(p)
				if strings.Contains(string(body), lent) {
					holds += " " + d.Name()
				}
				return err
			})
			if err != nil || (holds != "") != shown {
				t.Errorf("the value is in%s, %v", holds, err)
			}
		})
	}
}
