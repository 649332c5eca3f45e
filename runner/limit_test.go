package runner

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/sandbox"
)

func TestLimitsOfTheConfigurationReachThePlan(t *testing.T) {
	t.Parallel()
	c, err := decodeConfig([]byte(`{"limits":{"runs":3,"total_memory":"4g","wait_seconds":-1,"free_disk":"1g","output":"1m","tree_files":10,"temp":"2m","open_files":100,"idle_seconds":5}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := LimitsConfig{Runs: 3, TotalMemory: 4 << 30, WaitSeconds: -1, FreeDisk: 1 << 30, Output: 1 << 20, TreeFiles: 10, Temp: 2 << 20, OpenFiles: 100, IdleSeconds: 5}
	if d := cmp.Diff(want, c.Limits); d != "" {
		t.Errorf("limits (-want +got):\n%s", d)
	}
	c = c.over(DefaultConfig())
	got := planBox(c.Box, c.Limits, nil).Limits
	bounds := sandbox.DefaultLimits()
	bounds.FreeBytes, bounds.OutputBytes, bounds.DiskInodes, bounds.TmpBytes, bounds.OpenFiles = 1<<30, 1<<20, 10, 2<<20, 100
	if d := cmp.Diff(bounds, got); d != "" {
		t.Errorf("box (-want +got):\n%s", d)
	}
}

func TestLimitsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for text, path := range map[string]string{
		`{"limits":{"runs":0}}`:              "/limits/runs",
		`{"limits":{"total_memory":"1m"}}`:   "/limits/total_memory",
		`{"limits":{"temp":"1k"}}`:           "/limits/temp",
		`{"limits":{"wait_seconds":-2}}`:     "/limits/wait_seconds",
		`{"limits":{"open_files":1}}`:        "/limits/open_files",
		`{"limits":{"idle_seconds":100000}}`: "/limits/idle_seconds",
	} {
		_, err := decodeConfig([]byte(text))
		bad, ok := errors.AsType[*InputError](err)
		if !ok || len(bad.Details) != 1 || bad.Details[0].Path != path {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAReachedLimitIsToldWithItsMeasure(t *testing.T) {
	t.Parallel()
	x := &run{plan: &Plan{}, printed: 90}
	x.plan.Box.Limits.OutputBytes = 100
	tests := []struct {
		err  error
		want *ReachedLimit
	}{
		{errors.New("else"), nil},
		{&sandbox.LimitError{Limit: sandbox.LimitMemory}, nil},
		{fmt.Errorf("x: %w", &sandbox.LimitError{Which: sandbox.MeasureTreeFiles, Allowed: 3, Measured: 7}), &ReachedLimit{"tree_files", 3, 7}},
		{&sandbox.LimitError{Which: sandbox.MeasureOutput, Allowed: 10, Measured: 11}, &ReachedLimit{"output_bytes", 100, 101}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, x.limitReached(tt.err)); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.err, d)
		}
	}
	if got := x.boxLimits().OutputBytes; got != 10 {
		t.Errorf("the next box may print %d bytes, want 10", got)
	}
}
