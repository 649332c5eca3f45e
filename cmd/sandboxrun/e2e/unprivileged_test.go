package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sandboxrun/runner/document"
)

func TestARunnerThatIsNotRootWorksAndLeavesNothing(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("the other tests run unprivileged already")
	}
	const socket = "/var/run/docker.sock"
	if _, err := os.Stat(socket); err != nil {
		t.Skipf("no engine on the usual socket: %v", err)
	}
	rig, r := newRig(t), newRepo(t, sample)
	asNobodyWith(t, rig, r, socket)
	task := r.task("rm old.txt", "mkdir -p d/e && echo x > d/e/f", "mkdir private && echo s > private/s && chmod 000 private/s private", "id -u")
	task["acceptance_criteria"] = []any{map[string]any{"command": "test ! -e old.txt && test -f d/e/f && git status --porcelain && touch litter"}}
	env := rig.env
	for _, layout := range []string{"copy", "overlay", "overlay"} { // the last run inherits what the one before could not remove
		if layout == "overlay" { // where no directory can be renamed, only when asked for
			rig.env = append(slices.Clone(env), "SANDBOXRUN_LAYOUT=overlay")
		}
		res, o := rig.execute(task)
		if o.exit != 0 || res.Status != document.StatusSuccess || res.Box.Layout != layout || !res.Box.Cleanup.Complete {
			t.Fatalf("exit %d, %s, layout %s, issues %+v", o.exit, res.Status, res.Box.Layout, res.Issues)
		}
		if len(res.FilesChanged) != 3 {
			t.Errorf("files %+v", res.FilesChanged)
		}
	}
}

// chown changes the owner of a whole tree.
func chown(t *testing.T, dir string, uid int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, uid, uid)
	})
	if err != nil {
		t.Fatal(err)
	}
}
