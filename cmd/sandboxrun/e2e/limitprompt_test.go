package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"sandboxrun/internal/testenv"
)

// promptly is how soon a box that exceeds a limit of its tree is stopped: two seconds, and as much again for a busy
// machine.
const promptly = 4 * time.Second

// A sample has each limit under one runtime.
func TestABoxIsStoppedPromptlyOnceItsTreeIsTooLarge(t *testing.T) {
	t.Parallel()
	for i, h := range []hostile{
		{name: "bytes", command: "head -c 30000000 /dev/zero > big", code: "disk_limit", measure: "tree_bytes", box: map[string]any{"disk": "20m"}},
		{name: "files", command: "seq 1 5000 | xargs touch", code: "disk_limit", measure: "tree_files", limits: map[string]any{"tree_files": 3000}},
	} {
		for j, runtime := range []string{"", "runsc"} {
			if !testenv.All() && i != j {
				continue
			}
			t.Run(h.name+" "+runtime, func(t *testing.T) {
				t.Parallel()
				if runtime != "" {
					testenv.Runtime(t, runtime)
				}
				h.seconds = 60
				rig, task := h.start(t, h.command+"; while :; do date +%s%N; sleep 0.05; done")
				res, o := rig.execute(task, "--runtime", runtime)
				h.told(t, res, o)
				// The clock of the box itself shows how long it ran after exceeding the limit.
				ticks := strings.Fields(res.CommandsRun[0].StdoutExcerpt)
				if len(ticks) < 2 {
					t.Logf("stopped before the second tick: %q", ticks)
					return
				}
				if took := tick(t, ticks[len(ticks)-1]).Sub(tick(t, ticks[0])); took > promptly {
					t.Errorf("ran on for %s", took)
				} else {
					t.Logf("stopped after %s", took)
				}
			})
		}
	}
}

func tick(t *testing.T, ns string) time.Time {
	t.Helper()
	n, err := strconv.ParseInt(ns, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(0, n)
}
