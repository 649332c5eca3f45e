package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/runner/config"
	"sandboxrun/sandbox"
)

func TestLimitsOfTheConfigurationReachThePlan(t *testing.T) {
	t.Parallel()
	c, err := config.Decode([]byte(`{"limits":{"runs":3,"total_memory":"4g","wait_seconds":-1,"free_disk":"1g","output":"1m","tree_files":10,"temp":"2m","open_files":100,"idle_seconds":5}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Limits{Runs: 3, TotalMemory: 4 << 30, WaitSeconds: -1, FreeDisk: 1 << 30, Output: 1 << 20, TreeFiles: 10, Temp: 2 << 20, OpenFiles: 100, IdleSeconds: 5}
	if d := cmp.Diff(want, c.Limits); d != "" {
		t.Errorf("limits (-want +got):\n%s", d)
	}
	c = c.Over(config.Default())
	got := BoxesOf(c.Box, c.Limits, nil).Limits
	bounds := sandbox.DefaultLimits()
	bounds.FreeBytes, bounds.OutputBytes, bounds.DiskInodes, bounds.TmpBytes, bounds.OpenFiles = 1<<30, 1<<20, 10, 2<<20, 100
	if d := cmp.Diff(bounds, got); d != "" {
		t.Errorf("box (-want +got):\n%s", d)
	}
}
