package e2e

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestMainProcessOfABoxReapsOrphansAndProtectsItsTunnel(t *testing.T) {
	t.Parallel()
	res, o := newRig(t).execute(newRepo(t, sample).task(
		// A zombie keeps its name.
		`(sleep 0.1 &); (sleep 0.2 &); sleep 0.5; for i in $(seq 100); do grep -qs '^Name:.sleep' /proc/[0-9]*/status || exit 0; sleep 0.1; done; exit 1`,
		"! (echo stray > /proc/1/fd/1)",
		"echo x > x"))
	if o.exit != 0 || len(res.FilesChanged) != 1 {
		t.Errorf("exit %d, commands %+v, issues %+v", o.exit, res.CommandsRun, res.Issues)
	}
}

// A program that is replaced or removed while a task runs stays the main process of the boxes the task still opens.
func TestAReplacedProgramChangesNoLiveRun(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(path string) error{
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("no program"), 0o755); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			body, err := os.ReadFile(program)
			if err != nil {
				t.Fatal(err)
			}
			rig.program = filepath.Join(t.TempDir(), "sandboxrun")
			if err := os.WriteFile(rig.program, body, 0o755); err != nil {
				t.Fatal(err)
			}
			task := repo.task("echo early > early.txt", "sleep 3")
			task["acceptance_criteria"] = []any{map[string]any{"command": "test -e early.txt"}}
			var group sync.WaitGroup
			group.Go(func() {
				waitFor(t, "the working box", func() bool {
					pinned, err := filepath.Glob(filepath.Join(rig.state, "work", "*", "agent"))
					return err == nil && len(pinned) == 1
				})
				if err := replace(rig.program); err != nil {
					t.Error(err)
				}
			})
			res, o := rig.execute(task)
			group.Wait()
			if o.exit != 0 || changes(res)["early.txt"] != "added" || res.Tests.Passed == nil || !*res.Tests.Passed {
				t.Errorf("exit %d, issues %+v, tests %+v", o.exit, res.Issues, res.Tests)
			}
		})
	}
}
