package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sandboxrun/internal/step"
	"sandboxrun/runner"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/reader"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	engines "sandboxrun/sandbox/docker"
)

// outcome waits for the end of a live run and returns its result.
func (l *live) outcome(t *testing.T) (document.Result, int) {
	t.Helper()
	_ = l.cmd.Wait() // the exit code is returned
	var res document.Result
	if err := json.Unmarshal(l.out.Bytes(), &res); err != nil {
		t.Errorf("no result: %v: %.500s", err, l.out.Bytes())
	}
	return res, l.cmd.ProcessState.ExitCode()
}

// stored reads the result of a run from the state directory.
func (r *rig) stored(run string) document.Result {
	r.t.Helper()
	body, err := os.ReadFile(filepath.Join(r.state, "runs", run, "result.json"))
	var res document.Result
	if err == nil {
		err = json.Unmarshal(body, &res)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

// inside is a service on the rig's state directory in this process.
func (r *rig) inside(o service.Options) *service.Service {
	r.t.Helper()
	st, err := state.Open(r.state)
	if err != nil {
		r.t.Fatal(err)
	}
	engine, err := engines.New(engines.Config{Dir: filepath.Join(r.state, "etc"), Instance: st.Instance()})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = engine.Close() })
	o.State = st
	o.Runner = runner.New(runner.Options{State: st, Config: config.Default(), Engine: engine, GuestBinary: program, Reader: reader.Program{Path: program}, Getenv: os.Getenv, Version: "test"})
	return service.New(o)
}

func TestACancelledRunKeepsItsPatchAndLandsNothing(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	l := startLive(t, rig, repo)
	if o := rig.run(nil, "runs", "cancel", "--reason", "not\x1b[31m wanted", l.run); o.exit != 0 {
		t.Errorf("cancel: exit %d: %s", o.exit, o.stderr)
	}
	res, exit := l.outcome(t)
	if exit != document.ExitPartial || !hasCode(res, "cancelled") || hasCode(res, "interrupted") || res.Git.Branch != "" || changes(res)["early.txt"] != "added" {
		t.Errorf("exit %d, %v, %+v, %v", exit, codes(res), res.Git, changes(res))
	}
	if patch, err := os.ReadFile(res.Git.Patch); err != nil || !strings.Contains(string(patch), "early.txt") {
		t.Errorf("patch: %v", err)
	}
	for _, i := range res.Issues {
		if i.Code == "cancelled" && (!strings.Contains(i.Description, "wanted") || strings.Contains(i.Description, "\x1b")) {
			t.Errorf("described as %q", i.Description)
		}
	}
	if o := rig.run(nil, "runs", "cancel", l.run); o.exit != document.ExitInput || !strings.Contains(string(o.stderr), "has ended") {
		t.Errorf("cancel of an ended run: exit %d: %s", o.exit, o.stderr)
	}
}

// A run that is cancelled while it only owes its phases, or while it verifies, lands nothing either.
func TestACancelIsHeardInLaterPhases(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := repo.task("echo early > early.txt")
	task["acceptance_criteria"] = []any{map[string]any{"command": "sleep 1000"}}
	var out bytes.Buffer
	c := rig.command("execute", "--quiet", "-")
	c.Stdin, c.Stdout = bytes.NewReader(marshal(t, task)), &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	l := &live{rig: rig, cmd: c}
	waitFor(t, "the verification", func() bool {
		journals, err := filepath.Glob(filepath.Join(rig.state, "runs", "*", "events.ndjson"))
		if err != nil || len(journals) == 0 {
			return false
		}
		l.run = filepath.Base(filepath.Dir(journals[0]))
		body, err := os.ReadFile(journals[0])
		return err == nil && strings.Contains(string(body), `"phase":"verify"`)
	})
	var group sync.WaitGroup
	for range 2 { // two of them race
		group.Go(func() {
			if o := rig.run(nil, "runs", "cancel", l.run); o.exit != 0 && !strings.Contains(string(o.stderr), "has ended") {
				t.Errorf("cancel: exit %d: %s", o.exit, o.stderr)
			}
		})
	}
	group.Wait()
	_ = c.Wait() // the exit code is checked below
	res := rig.stored(l.run)
	if c.ProcessState.ExitCode() != document.ExitPartial || !hasCode(res, "cancelled") || res.Git.Branch != "" || changes(res)["early.txt"] != "added" {
		t.Errorf("exit %d, %v, %+v", c.ProcessState.ExitCode(), codes(res), res.Git)
	}
	n := 0
	for _, code := range codes(res) {
		if code == "cancelled" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("cancelled %d times", n)
	}
}

// The process of a cancelled run that hears nothing is ended, and the run has its result.
func TestAHungRunIsEndedAfterACancel(t *testing.T) {
	t.Parallel()
	rig, repo := newKillRig(t), newRepo(t, sample)
	l := startLive(t, rig, repo)
	if err := l.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s := rig.inside(service.Options{Patience: service.Patience{Terminate: time.Second, Kill: time.Second}})
	if _, err := s.Cancel(t.Context(), l.run, mailbox.Cancel{By: "test", Reason: "hung"}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := s.Enforce(t.Context(), l.run); err != nil {
		t.Errorf("enforce: %v", err)
	}
	if took := time.Since(began); took < 1900*time.Millisecond {
		t.Errorf("ended after %s", took)
	}
	_ = l.cmd.Wait() // killed
	if res := rig.stored(l.run); !hasCode(res, "cancelled") || !hasCode(res, "runner_lost") || res.Git.Branch != "" {
		t.Errorf("%v, %+v", codes(res), res.Git)
	}
}

// askingRun starts a run whose agent wants to write a file and waits for a person.
func askingRun(t *testing.T, rig *rig, seconds int) (*live, service.Approval) {
	t.Helper()
	rig.models(mending())
	repo := newRepo(t, sample)
	task := agentTask(repo)
	delete(task, "acceptance_criteria")
	task["approvals"] = map[string]any{"policy": "ask", "timeout_seconds": seconds}
	l := &live{rig: rig, cmd: rig.command("execute", "--quiet", "-")}
	l.cmd.Stdin, l.cmd.Stdout = bytes.NewReader(marshal(t, task)), &l.out
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return l, rig.awaitApproval(l, "")
}

// awaitApproval waits for a request other than the named one.
func (r *rig) awaitApproval(l *live, not string) service.Approval {
	r.t.Helper()
	var list []service.Approval
	waitFor(r.t, "a request", func() bool {
		o := r.run(nil, "approvals", "list", "--json")
		list = nil
		if err := json.Unmarshal(o.stdout, &list); err != nil {
			r.t.Fatalf("approvals list: exit %d: %v: %s", o.exit, err, o.stderr)
		}
		return len(list) == 1 && list[0].ID != not
	})
	l.run = list[0].RunID
	return list[0]
}

func TestAnybodyAnswersThroughTheMailbox(t *testing.T) {
	t.Parallel()
	rig := newRig(t)
	l, first := askingRun(t, rig, 60)
	o := rig.run(nil, "approvals", "list")
	if text := string(o.stdout); !strings.Contains(text, first.Digest) || !strings.Contains(text, "Edit") || !strings.Contains(text, "sum.sh") {
		t.Errorf("shown: %s", text)
	}
	if o := rig.run(nil, "approvals", "answer", "--allow", "--digest", "00000000", l.run, first.ID); o.exit != document.ExitInput {
		t.Errorf("another digest: exit %d: %s", o.exit, o.stderr)
	}
	exits := make([]int, 4)
	var group sync.WaitGroup
	for i := range exits { // they race
		group.Go(func() {
			exits[i] = rig.run(nil, "approvals", "answer", "--allow", "--digest", first.Digest, l.run, first.ID).exit
		})
	}
	group.Wait()
	won := 0
	for _, exit := range exits {
		if exit == 0 {
			won++
		}
	}
	if won != 1 {
		t.Errorf("exits %v: %d answers counted", exits, won)
	}
	second := rig.awaitApproval(l, first.ID)
	if o := rig.run(nil, "approvals", "answer", "--deny", "--reason", "not that file", "--digest", second.Digest[:8], l.run[:12], second.ID); o.exit != 0 {
		t.Errorf("deny: exit %d: %s", o.exit, o.stderr)
	}
	third := rig.awaitApproval(l, second.ID)
	if o := rig.run(nil, "approvals", "answer", "--allow", "--digest", third.Digest, l.run, third.ID); o.exit != 0 {
		t.Errorf("allow: exit %d: %s", o.exit, o.stderr)
	}
	res, _ := l.outcome(t)
	if d := changes(res); d["sum.sh"] != "modified" || d["old.txt"] != "deleted" || d["NOTES.md"] != "" || !hasCode(res, "approval_denied") {
		t.Errorf("%v, %+v", d, res.Issues)
	}
	_, answered := approvalsIn(t, rig, l.run)
	for _, a := range answered {
		if a["by"] != "command line" && a["by"] != "policy" {
			t.Errorf("answered: %v", a)
		}
	}
	if o := rig.run(nil, "approvals", "answer", "--allow", "--digest", third.Digest, l.run, third.ID); o.exit != document.ExitInput {
		t.Errorf("an answer to an ended run: exit %d: %s", o.exit, o.stderr)
	}
}

// What an agent still waits for when its run dies is denied, and told in the journal.
func TestRequestsOfADeadRunAreDenied(t *testing.T) {
	t.Parallel()
	rig := newKillRig(t)
	l, asked := askingRun(t, rig, 60)
	if err := l.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = l.cmd.Wait() // killed
	if o := rig.run(nil, "approvals", "answer", "--allow", "--digest", asked.Digest, l.run, asked.ID); o.exit != document.ExitInput {
		t.Errorf("an answer to a dead run: exit %d: %s", o.exit, o.stderr)
	}
	if o := rig.run(nil, "reap"); o.exit != 0 {
		t.Errorf("reap: exit %d: %s", o.exit, o.stderr)
	}
	given, ok, err := mailbox.At(filepath.Join(rig.state, "runs", l.run)).Given(asked.ID)
	if !ok || err != nil || given.Decision != mailbox.Deny || given.Reason != "the run died" {
		t.Errorf("%+v, %v, %v", given, ok, err)
	}
	if _, answered := approvalsIn(t, rig, l.run); len(answered) == 0 || answered[len(answered)-1]["reason"] != "the run died" {
		t.Errorf("journal: %v", answered)
	}
}

// Whoever cancels a run may be killed meanwhile: the run has one result, and nothing is left.
func TestWhoCancelsMayBeKilled(t *testing.T) {
	t.Parallel()
	mortalProgram(t)
	for i, side := range []step.Side{step.SideBefore, step.SideAfter} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			rig, repo := newKillRig(t), newRepo(t, sample)
			l := startLive(t, rig, repo)
			if died, out := rig.dying(death{"mail/cancel", side, 1}, nil, "runs", "cancel", l.run); !died {
				t.Errorf("was not killed: %s", out)
			}
			if side == step.SideBefore {
				if o := rig.run(nil, "runs", "cancel", l.run); o.exit != 0 {
					t.Errorf("exit %d: %s", o.exit, o.stderr)
				}
			}
			if res, exit := l.outcome(t); exit != document.ExitPartial || !hasCode(res, "cancelled") || res.Git.Branch != "" {
				t.Errorf("exit %d, %v", exit, codes(res))
			}
		})
	}
}
