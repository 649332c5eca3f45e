package e2e

import (
	"testing"
	"time"

	"sandboxrun/runner"
)

// hostile is a command that will not end well, and what the result must say.
type hostile struct {
	name, command, code string
	seconds             int
	box                 map[string]any
}

var hostiles = []hostile{
	{name: "floods output without a newline", command: "cat /dev/zero | tr '\\0' x", code: "output_limit", seconds: 120},
	{name: "forks without end", command: "f() { f | f & }; f; sleep 100", code: "pids_limit", seconds: 60, box: map[string]any{"pids": 64}},
	{name: "eats memory", command: "tail /dev/zero", code: "memory_limit", seconds: 60, box: map[string]any{"memory": "96m"}},
	{name: "ignores signals", command: "trap '' TERM INT HUP; while :; do sleep 1; done", code: "runtime_limit", seconds: 4},
	{name: "fills the tree", command: "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/urandom > f$i; done", code: "disk_limit", seconds: 60, box: map[string]any{"disk": "20m"}},
}

func TestHostileCommandsHitTheirLimit(t *testing.T) {
	t.Parallel()
	for _, h := range hostiles {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			task := repo.task("echo done > before.txt", h.command)
			task["max_runtime_seconds"] = h.seconds
			if h.box != nil {
				task["box"] = h.box
			}
			began := time.Now()
			res, o := rig.execute(task)
			if o.exit != 6 || !hasCode(res, h.code) {
				t.Fatalf("exit %d, codes %v, want 6 and %s\n%+v", o.exit, codes(res), h.code, res.Issues)
			}
			if took := time.Since(began); took > time.Duration(h.seconds)*time.Second+45*time.Second {
				t.Errorf("took %s with a limit of %d s", took, h.seconds)
			}
			if res.Status != runner.StatusPartial || res.FilesChanged[0].Path != "before.txt" {
				t.Errorf("status %s, files %+v: what was done before is lost", res.Status, res.FilesChanged)
			}
			last := res.CommandsRun[len(res.CommandsRun)-1]
			if last.ExitCode != nil {
				t.Errorf("a command that was stopped has exit code %d", *last.ExitCode)
			}
			if last.TimedOut != (h.code == "runtime_limit") {
				t.Errorf("timed_out is %v", last.TimedOut)
			}
		})
	}
}

func TestProcessesThatOutliveTheirShellEndWithTheBox(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, o := rig.execute(repo.task("(setsid sh -c 'while :; do date > late.txt; sleep 0.1; done' &) ; echo started"))
	if o.exit != 0 || *res.CommandsRun[0].ExitCode != 0 {
		t.Errorf("exit %d, %v", o.exit, codes(res))
	}
}
