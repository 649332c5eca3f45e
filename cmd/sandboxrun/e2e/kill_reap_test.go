package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sandboxrun/internal/step"
	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

// reapDeaths are the points at which a reaper is killed: its own steps, and those of signing and writing a result, which it shares
// with runs.
func reapDeaths() []death {
	return deaths(func(n step.Name) bool {
		return ofReaper(n) || n == "run/close" || n == "run/sign" || n == "run/result" || n == "run/unmark"
	})
}

// ofCaller are the steps of callers that are not the process of a run; their tests are in other files.
func ofCaller(n step.Name) bool {
	return n == "mail/cancel" || strings.HasPrefix(string(n), "queue/")
}

// corpse is the point at which a run dies so that reaping it includes the step.
func corpse(d death) death {
	switch d.step {
	case "reap/discard":
		return death{"run/plan", step.SideBefore, 1}
	case "reap/boxes", "reap/trees":
		return death{"box/start", step.SideAfter, 1}
	case "reap/landing":
		return death{"land/lock", step.SideAfter, 1}
	}
	return death{"land/ref", step.SideAfter, 1}
}

func TestReaperMayBeKilledToo(t *testing.T) { //nolint:tparallel // eachDeath says so
	t.Parallel()
	testenv.Engine(t, agentImage)
	mortalProgram(t)
	report := newReport()
	all := sampled(t, reapDeaths())
	eachDeath(t, len(all), func(t *testing.T, i int) {
		t.Helper()
		d := all[i]
		v := &victim{death: corpse(d), plot: plotOf(corpse(d)), rig: newKillRig(t), repo: newRepo(t, sample)}
		v.perish()
		if died, out := v.rig.dying(d, nil, "reap"); !died {
			v.fault("reap was not killed at %s: %.600s", d, out)
		}
		v.clear((i+i/2)%2 == 0) // of every step one side each way
		v.examine(true)
		v.death = d // shown in the table
		report.add(v)
	})
	report.print(t)
	report.compare(t, all)
}

// clear cleans up by "reap" or by the next start.
func (v *victim) clear(asked bool) {
	if asked {
		v.by = "reap"
		if o := v.rig.run(nil, "reap"); o.exit != 0 {
			v.fault("reap: exit %d: %s", o.exit, o.stderr)
		}
		return
	}
	v.by = "next start"
	after := newRepo(v.rig.t, sample)
	if res, o := v.rig.execute(after.task("echo after > after.txt")); o.exit != 0 || hasCode(res, "cleanup_failed") {
		v.fault("the next run: exit %d, %v", o.exit, codes(res))
	}
}

// Kills at arbitrary moments: while writing a file, during a request to the engine, during an answer.
func TestKilledAtAnyMomentARunLeavesNothingAndHasOneResult(t *testing.T) { //nolint:tparallel // eachDeath says so
	t.Parallel()
	testenv.Engine(t, agentImage)
	report := newReport()
	apart, moments := 600*time.Millisecond, 4
	if testenv.All() {
		apart, moments = 200*time.Millisecond, 12
	}
	eachDeath(t, moments, func(t *testing.T, i int) {
		t.Helper()
		v := &victim{plot: plot{task: verified}, rig: newKillRig(t), repo: newRepo(t, sample)}
		v.before = fingerprint(t, v.repo.dir)
		after := time.Duration(i) * apart
		v.perishAfter(after)
		v.clear(i%2 == 0)
		v.examine(true)
		report.addAs(after.String(), v)
	})
	report.print(t)
}

func (v *victim) perishAfter(delay time.Duration) {
	c := v.rig.command("execute", "--quiet", "-")
	c.Stdin = bytes.NewReader(v.plot.stdin(v))
	if err := c.Start(); err != nil {
		v.rig.t.Fatal(err)
	}
	<-time.After(delay)
	_ = c.Process.Kill() // it may have ended
	_ = c.Wait()         // killed
	if ids := v.rig.runIDs(); len(ids) > 0 {
		v.run = ids[0]
	}
}

// A live runner keeps its own boxes and files while other runs are reaped, whatever its journal records about
// processes and the boot: only its lock counts.
func TestLiveRunsKeepTheirBoxesWhileOthersAreReaped(t *testing.T) {
	t.Parallel()
	here, there := newKillRig(t), newRig(t)
	var lives [2]*live
	var wait sync.WaitGroup
	for i, r := range []*rig{here, there} {
		repo := newRepo(t, sample)
		wait.Go(func() { lives[i] = startLive(t, r, repo) })
	}
	wait.Wait()
	if t.Failed() {
		return
	}
	misreport(t, here, lives[0].run, 1)
	var dead []*victim
	for _, d := range []death{{"box/start", step.SideAfter, 1}, {"land/ref", step.SideAfter, 1}} {
		v := &victim{death: d, plot: plotOf(d), rig: here, repo: newRepo(t, sample)}
		v.perish()
		misreport(t, here, v.run, os.Getpid()) // a live process with the number of the dead one
		dead = append(dead, v)
	}
	for _, r := range []*rig{here, there} {
		if o := r.run(nil, "reap"); o.exit != 0 {
			t.Errorf("reap: exit %d: %s", o.exit, o.stderr)
		}
	}
	for _, v := range dead {
		if _, err := os.Stat(filepath.Join(here.state, "runs", v.run, "result.json")); err != nil {
			t.Errorf("killed at %s: %v", v, err)
		}
	}
	for _, l := range lives {
		out, err := exec.Command("docker", "ps", "--format", "{{.Names}}").Output()
		if err != nil || !strings.Contains(string(out), l.run) {
			t.Errorf("the box of the live run %s is gone (%v): %s", l.run, err, out)
		}
		if err := l.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = l.cmd.Wait() // the exit code is checked below
		var res document.Result
		if err := json.Unmarshal(l.out.Bytes(), &res); err != nil || l.cmd.ProcessState.ExitCode() != 130 || changes(res)["early.txt"] != "added" {
			t.Errorf("the live run ended with %d, %v, %v, not by our signal", l.cmd.ProcessState.ExitCode(), err, codes(res))
		}
	}
}

// misreport makes a run's journal of steps name another process of another boot as its writer.
func misreport(t *testing.T, r *rig, run string, pid int) {
	t.Helper()
	path := filepath.Join(r.state, "runs", run, "steps.ndjson")
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	body = regexp.MustCompile(`"boot":"[^"]*"`).ReplaceAll(body, []byte(`"boot":"00000000-0000-0000-0000-000000000000"`))
	body = regexp.MustCompile(`"pid":\d+`).ReplaceAll(body, []byte(`"pid":`+strconv.Itoa(pid)))
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
}
