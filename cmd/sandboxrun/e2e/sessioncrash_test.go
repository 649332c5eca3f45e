package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"sandboxrun/agents/scripted/modelserver"
)

// startSession starts a task of a session whose agent then hangs in a command.
func startSession(t *testing.T, r *rig, task map[string]any) *exec.Cmd {
	t.Helper()
	c := r.command("execute", "--quiet", "-")
	c.Stdin = bytes.NewReader(marshal(t, task))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the agent's command", func() bool {
		journals, err := filepath.Glob(filepath.Join(r.state, "runs", "*", "events.ndjson"))
		if err != nil {
			return false
		}
		for _, j := range journals {
			if body, err := os.ReadFile(j); err == nil && bytes.Contains(body, []byte("sleep 999")) {
				return true
			}
		}
		return false
	})
	return c
}

func TestABusySessionRefusesASecondRunAndSurvivesTheDeathOfTheFirst(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	srv := rig.model(modelserver.Scenario{Name: "busy", Steps: []modelserver.Step{
		shell("echo one > one.txt"), say("The word is heliotrope."), shell("echo lost > lost.txt"), shell("sleep 999"),
	}})
	first := rig.good(sessionTask(repo, "b", "one"))
	c := startSession(t, rig, sessionTask(repo, "b", "two"))
	doc, exit := rig.refuse(marshal(t, sessionTask(repo, "b", "three")))
	if exit != 2 || doc.Error.Type != "invalid_input" || doc.Error.Message != "session is busy" {
		t.Errorf("exit %d, %+v", exit, doc)
	}
	if runs, err := os.ReadDir(filepath.Join(rig.state, "runs")); err != nil || len(runs) != 2 {
		t.Errorf("a refused run left files: %v, %v", runs, err)
	}
	if o := rig.run(nil, "sessions", "rm", "b"); o.exit != 2 || !bytes.Contains(o.stderr, []byte("busy")) {
		t.Errorf("rm of a busy session: exit %d: %s", o.exit, o.stderr)
	}
	if o := rig.run(nil, "sessions", "list"); o.exit != 0 || !bytes.Contains(o.stdout, []byte("running")) {
		t.Errorf("list: exit %d: %s", o.exit, o.stdout)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed
	srv.Append(modelserver.Step{Expect: "heliotrope", Tools: shell("test -e one.txt && test ! -e lost.txt && echo three > three.txt").Tools}, say("Third."))
	third := rig.good(sessionTask(repo, "b", "three"))
	if third.Session.RunIndex != 2 || !third.Session.Resumed || third.Git.BaseCommit != first.Git.Commit || changes(third)["three.txt"] != "added" {
		t.Errorf("%+v, %+v, %+v", third.Session, third.Git, third.FilesChanged)
	}
	assertScriptKept(t, srv)
}

func TestASessionWhoseFirstRunDiedBeginsAnew(t *testing.T) {
	t.Parallel()
	rig, repo, other := newRig(t), newRepo(t, sample), newRepo(t, sample)
	srv := rig.model(modelserver.Scenario{Name: "first", Steps: []modelserver.Step{shell("sleep 999")}})
	c := startSession(t, rig, sessionTask(repo, "f", "one"))
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed
	srv.Append(say("Anew."))
	res := rig.good(sessionTask(other, "f", "one"))
	if res.Session.RunIndex != 1 || res.Session.Resumed {
		t.Errorf("%+v", res.Session)
	}
	if view, _ := rig.session("f"); view.RepoRoot != other.dir {
		t.Errorf("bound to %s", view.RepoRoot)
	}
}

// A stopped run leaves its files and, because its box still lives, the conversation so far.
func TestAStoppedRunLeavesItsStateToTheSession(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	srv := rig.model(modelserver.Scenario{Name: "stopped", Steps: []modelserver.Step{
		shell("echo kept > kept.txt"), shell("sleep 999"),
	}})
	c := startSession(t, rig, sessionTask(repo, "i", "UNFINISHED-BUSINESS"))
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // by our signal
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d", code)
	}
	view, ok := rig.session("i")
	if !ok || len(view.Runs) != 1 || !view.Runs[0].Kept {
		t.Fatalf("session after the signal: %+v", view)
	}
	srv.Append(modelserver.Step{Expect: "UNFINISHED-BUSINESS", Tools: shell("test -e kept.txt && echo more > more.txt").Tools}, say("Went on."))
	res := rig.good(sessionTask(repo, "i", "go on"))
	if !res.Session.Resumed || changes(res)["more.txt"] != "added" || len(res.FilesChanged) != 1 {
		t.Errorf("%+v, %+v", res.Session, res.FilesChanged)
	}
	if got := repo.git("ls-tree", "--name-only", res.Git.Branch, "kept.txt"); got != "kept.txt" {
		t.Errorf("the stopped run's file is not on the branch: %q", got)
	}
	assertScriptKept(t, srv)
}

func TestATurnThatFailedCanBeFollowed(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	srv := rig.model(modelserver.Scenario{Name: "failed", Steps: []modelserver.Step{
		{Fault: &modelserver.Fault{Status: 401, Type: "authentication_error", Message: "scripted"}},
	}})
	res, o := rig.execute(sessionTask(repo, "s", "UNHEARD"))
	if o.exit != 4 || !hasCode(res, "agent_auth") {
		t.Errorf("exit %d, %v", o.exit, codes(res))
	}
	srv.Append(say("Now."))
	if next := rig.good(sessionTask(repo, "s", "again")); next.Session.RunIndex != 2 {
		t.Errorf("%+v", next.Session)
	}
	assertScriptKept(t, srv)
}

func TestATimeLimitKeepsTheSessionGoing(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	srv := rig.model(modelserver.Scenario{Name: "late", Steps: []modelserver.Step{shell("echo one > one.txt"), shell("sleep 999")}})
	task := sessionTask(repo, "s", "one")
	task["max_runtime_seconds"] = 15
	res, o := rig.execute(task)
	if o.exit != 6 || !hasCode(res, "runtime_limit") || changes(res)["one.txt"] != "added" {
		t.Errorf("exit %d, %v, %+v", o.exit, codes(res), res.FilesChanged)
	}
	srv.Append(shell("test -e one.txt && echo two > two.txt"), say("Done."))
	if next := rig.good(sessionTask(repo, "s", "two")); changes(next)["two.txt"] != "added" || len(next.FilesChanged) != 1 {
		t.Errorf("%+v", next.FilesChanged)
	}
	assertScriptKept(t, srv)
}
