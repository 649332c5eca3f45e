package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

// onOwnDisk gives a rig a state directory on a disk that no other test writes to.
func onOwnDisk(t *testing.T, r *rig) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can inspect the processes of a box, and mount a disk")
	}
	dir, err := os.MkdirTemp("/dev/shm", "sandboxrun-disk-") //nolint:usetesting // another disk than the other tests'
	gitdifftest.Must(t, err)
	t.Cleanup(func() { gitdifftest.Must(t, os.RemoveAll(dir)) })
	before := r.state
	r.state = filepath.Join(dir, "state")
	for i, v := range r.env {
		if v == "SANDBOXRUN_STATE_DIR="+before {
			r.env[i] = "SANDBOXRUN_STATE_DIR=" + r.state
		}
	}
}

// Deleted files take space as long as somebody has them. However a box has them, it is ended at its limit.
func TestDeletedFilesCountHoweverTheyAreHeld(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "hoard")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "./testdata/hoard")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(binary)
	gitdifftest.Must(t, err)
	repo := newRepo(t, sample)
	gitdifftest.Must(t, os.WriteFile(filepath.Join(repo.dir, "hoard"), program, 0o755))
	repo.git("add", "-A")
	repo.git("commit", "-q", "-m", "program")
	for _, how := range testenv.Sample(t, []string{"pass", "map", "thread", "open", "open after decoys"}, 3) {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			testenv.Runtime(t, "runc")
			rig := newRig(t)
			onOwnDisk(t, rig)
			task := repo.task("./hoard " + how)
			task["box"] = map[string]any{"disk": "20m"}
			res, o := rig.execute(task, "--runtime", "runc")
			if o.exit != document.ExitLimit || !slices.Contains(codes(res), "disk_limit") {
				t.Errorf("exit %d, issues %+v, %+v", o.exit, res.Issues, res.CommandsRun)
			}
		})
	}
}
