package e2e

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
	"sandboxrun/schemas/closed"
)

// detach submits a task for a process of its own.
func (r *rig) detach(task map[string]any) view.RunView {
	r.t.Helper()
	o := r.run(marshal(r.t, task), "execute", "--detach", "-")
	var v view.RunView
	if err := json.Unmarshal(o.stdout, &v); err != nil || o.exit != 0 || v.RunID == "" {
		r.t.Fatalf("exit %d: %v: %s%s", o.exit, err, o.stdout, o.stderr)
	}
	return v
}

// await waits for the result of a run.
func (r *rig) await(run string) (document.Result, int) {
	r.t.Helper()
	o := r.run(nil, "runs", "wait", "--timeout", "100", run)
	var res document.Result
	if err := json.Unmarshal(o.stdout, &res); err != nil {
		r.t.Fatalf("exit %d: %v: %s%s", o.exit, err, o.stdout, o.stderr)
	}
	return res, o.exit
}

// idle waits until no worker of the rig is left, and checks what the queue keeps.
func (r *rig) idle() {
	r.t.Helper()
	waitFor(r.t, "the end of all workers", func() bool {
		left, err := filepath.Glob(filepath.Join(r.state, "programs", "*"))
		return err == nil && len(left) == 0
	})
	entries, err := os.ReadDir(filepath.Join(r.state, "queue"))
	if err != nil {
		r.t.Error(err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{"lock", "scheduler", "turns"}, e.Name()) {
			r.t.Errorf("left in the queue: %s", e.Name())
		}
	}
	err = filepath.WalkDir(r.state, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		fi, err := e.Info()
		private := strings.HasPrefix(path, filepath.Join(r.state, "runs")) || strings.HasPrefix(path, filepath.Join(r.state, "queue")) ||
			strings.HasPrefix(path, filepath.Join(r.state, "tasks"))
		if err == nil && private && fi.Mode().Perm()&0o177 != 0 {
			r.t.Errorf("%s has mode %v", path, fi.Mode())
		}
		return err
	})
	if err != nil {
		r.t.Error(err)
	}
}

// oneResult requires that a task has exactly one run, and that run a valid result.
func (r *rig) oneResult(taskID string) document.Result {
	r.t.Helper()
	o := r.run(nil, "runs", "list", "--json", "--limit", "0")
	var list []state.RunInfo
	if err := json.Unmarshal(o.stdout, &list); err != nil {
		r.t.Fatalf("runs list: %v: %s", err, o.stderr)
	}
	var runs []string
	for _, i := range list {
		if i.TaskID == taskID {
			runs = append(runs, i.RunID)
		}
	}
	if len(runs) != 1 {
		r.t.Fatalf("task %s has the runs %v", taskID, runs)
	}
	body, err := os.ReadFile(filepath.Join(r.state, "runs", runs[0], "result.json"))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := closed.Validate("result", body); err != nil {
		r.t.Error(err)
	}
	return r.stored(runs[0])
}

func taskNamed(repo *repo, id string, commands ...string) map[string]any {
	task := repo.task(commands...)
	task["task_id"] = id
	return task
}

func TestADetachedRunBelongsToNoProcess(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.env = append(rig.env, "NODE_CHANNEL_FD=3", "NOTIFY_SOCKET=/nowhere")
	v := rig.detach(taskNamed(repo, "one", "echo new > new.txt; sleep 2"))
	var w state.Worker
	waitFor(t, "the worker", func() bool {
		body, err := os.ReadFile(filepath.Join(rig.state, "runs", v.RunID, "worker.json"))
		return err == nil && json.Unmarshal(body, &w) == nil
	})
	proc := filepath.Join("/proc", strconv.Itoa(w.PID))
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if parent, session := fields[1], fields[3]; parent == strconv.Itoa(os.Getpid()) || session != strconv.Itoa(w.PID) {
		t.Errorf("parent %s, session %s of worker %d", parent, session, w.PID)
	}
	if in, err := os.Readlink(filepath.Join(proc, "fd", "0")); err != nil || in != "/dev/null" {
		t.Errorf("standard input is %s, %v", in, err)
	}
	environ, err := os.ReadFile(filepath.Join(proc, "environ"))
	if err != nil || strings.Contains(string(environ), "NODE_CHANNEL_FD") || strings.Contains(string(environ), "NOTIFY_SOCKET") {
		t.Errorf("the worker has variables of a supervisor, %v", err)
	}
	if again := rig.detach(taskNamed(repo, "one", "echo new > new.txt; sleep 2")); again.RunID != v.RunID {
		t.Errorf("the same task is run %s and run %s", v.RunID, again.RunID)
	}
	if o := rig.run(marshal(t, taskNamed(repo, "one", "true")), "execute", "--detach", "-"); o.exit != document.ExitInput || !strings.Contains(string(o.stderr), "another task") {
		t.Errorf("another task under the id: exit %d: %s", o.exit, o.stderr)
	}
	if o := rig.run(nil, "runs", "wait", "--timeout", "1", v.RunID); o.exit != document.ExitWaiting || !strings.Contains(string(o.stdout), `"state": "running"`) {
		t.Errorf("exit %d: %s%s", o.exit, o.stdout, o.stderr)
	}
	if res, exit := rig.await(v.RunID); exit != 0 || changes(res)["new.txt"] != "added" || res.Git.Branch != "sandboxrun/one" || res.RunID != v.RunID {
		t.Errorf("exit %d, %+v, %v", exit, res.Git, codes(res))
	}
	rig.idle()
}

func TestAWrongTaskIsRefusedBeforeItIsStored(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := repo.task("true")
	task["context"].(map[string]any)["base"] = "nowhere"
	for _, doc := range []string{`{"objective": 1}`, string(marshal(t, task))} {
		if o := rig.run([]byte(doc), "execute", "--detach", "-"); o.exit != document.ExitInput {
			t.Errorf("exit %d: %s", o.exit, o.stdout)
		}
	}
	if names, err := filepath.Glob(filepath.Join(rig.state, "queue", "*.json")); err != nil || len(names) != 0 {
		t.Errorf("stored: %v, %v", names, err)
	}
}

// Repositories take turns, and a task that waits can be cancelled.
func TestTasksWaitTheirTurn(t *testing.T) {
	t.Parallel()
	rig, a, b := newRig(t), newRepo(t, sample), newRepo(t, sample)
	rig.config["serve"] = map[string]any{"max_parallel": 1}
	first := rig.detach(taskNamed(a, "a1", "sleep 4"))
	second, third := rig.detach(taskNamed(a, "a2", "true")), rig.detach(taskNamed(a, "a3", "true"))
	other := rig.detach(taskNamed(b, "b1", "true"))
	if third.State != view.Queued || third.Queued == nil || third.Queued.Position != 2 || other.Queued == nil || other.Queued.Position != 3 {
		t.Errorf("third %+v, other %+v", third.Queued, other.Queued)
	}
	if o := rig.run(nil, "runs", "cancel", "--reason", "not needed", third.RunID); o.exit != 0 || !strings.Contains(string(o.stdout), "ended") {
		t.Errorf("cancel: exit %d: %s%s", o.exit, o.stdout, o.stderr)
	}
	if res, exit := rig.await(third.RunID); exit != document.ExitFailed || !hasCode(res, "cancelled") || res.TaskID != "a3" {
		t.Errorf("wait: exit %d: %+v", exit, res)
	}
	ended := map[string]document.Result{}
	for _, run := range []string{second.RunID, other.RunID, first.RunID} {
		res, exit := rig.await(run)
		if exit != 0 {
			t.Errorf("run %s: exit %d, %v", run, exit, codes(res))
		}
		ended[run] = res
	}
	if !ended[other.RunID].StartedAt.Before(ended[second.RunID].StartedAt) || ended[other.RunID].StartedAt.Before(ended[first.RunID].EndedAt) {
		t.Errorf("a1 %s to %s, b1 from %s, a2 from %s", ended[first.RunID].StartedAt, ended[first.RunID].EndedAt, ended[other.RunID].StartedAt, ended[second.RunID].StartedAt)
	}
}

// Whoever submits a task may be killed at any step: sent again, the task has one result.
func TestWhoSubmitsMayBeKilled(t *testing.T) {
	t.Parallel()
	mortalProgram(t)
	for _, n := range []step.Name{"queue/enqueue", "queue/task", "queue/appear"} {
		for _, side := range []step.Side{step.SideBefore, step.SideAfter} {
			t.Run(string(n)+" "+string(side), func(t *testing.T) {
				t.Parallel()
				rig, repo := newKillRig(t), newRepo(t, sample)
				task := taskNamed(repo, "one", "echo new > new.txt")
				if died, out := rig.dying(death{n, side, 1}, marshal(t, task), "execute", "--detach", "-"); !died {
					t.Errorf("was not killed: %s", out)
				}
				v := rig.detach(task)
				rig.await(v.RunID)
				if res := rig.oneResult("one"); res.Status != document.StatusSuccess || res.Git.Branch != "sandboxrun/one" {
					t.Errorf("%s, %v", res.Status, codes(res))
				}
				rig.idle()
			})
		}
	}
}

// A worker may be killed before, while and after its run begins: the accepted task has one result, and nobody runs it
// twice.
func TestAKilledWorkersTaskHasOneResult(t *testing.T) {
	t.Parallel()
	mortalProgram(t)
	for d, want := range map[death]document.Status{
		{"queue/rewrite", step.SideBefore, 1}: document.StatusSuccess,
		{"queue/rewrite", step.SideAfter, 1}:  document.StatusSuccess,
		{"run/appear", step.SideAfter, 1}:     document.StatusSuccess,
		{"run/plan", step.SideBefore, 1}:      document.StatusSuccess,
		{"run/plan", step.SideAfter, 1}:       document.StatusFailed,
		{"queue/remove", step.SideBefore, 1}:  document.StatusFailed,
		{"queue/remove", step.SideAfter, 1}:   document.StatusFailed,
		{"box/start", step.SideAfter, 1}:      document.StatusFailed,
		{"run/result", step.SideAfter, 1}:     document.StatusSuccess,
	} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			rig, repo := newKillRig(t), newRepo(t, sample)
			c := rig.command("execute", "--detach", "-")
			c.Path = mortalProgram(t)
			c.Env = append(slices.Clone(c.Env), "SANDBOXRUN_TEST_DIE="+string(d.step)+" "+string(d.side)+" 1")
			c.Stdin = strings.NewReader(string(marshal(t, taskNamed(repo, "one", "echo new > new.txt"))))
			out, err := c.Output()
			var v view.RunView
			if jerr := json.Unmarshal(out, &v); jerr != nil {
				t.Fatalf("%v: %v: %s", err, jerr, out)
			}
			rig.await(v.RunID)
			if o := rig.run(nil, "reap"); o.exit != 0 {
				t.Errorf("reap: %s", o.stderr)
			}
			if res := rig.oneResult("one"); res.Status != want || res.RunID != v.RunID || hasCode(res, "runner_lost") != (want == document.StatusFailed) {
				t.Errorf("%s, %v", res.Status, codes(res))
			}
			rig.kick(repo)
			rig.idle()
		})
	}
}

// kick has the queue looked at once more.
func (r *rig) kick(repo *repo) {
	r.t.Helper()
	v := r.detach(taskNamed(repo, "after", "true"))
	if res, exit := r.await(v.RunID); exit != 0 {
		r.t.Errorf("the next task: exit %d, %v", exit, codes(res))
	}
}

// killWorker kills the process that works on a run.
func (r *rig) killWorker(run string) {
	r.t.Helper()
	st, err := state.Open(r.state)
	if err != nil {
		r.t.Fatal(err)
	}
	d, err := st.Run(run)
	if err != nil {
		r.t.Fatal(err)
	}
	w, err := d.Worker()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := w.Signal(syscall.SIGKILL); err != nil {
		r.t.Fatal(err)
	}
}

// A worker that is killed in the middle of its work is settled by whoever waits for it.
func TestAKilledWorkerIsSettledByWhoWaits(t *testing.T) {
	t.Parallel()
	rig, repo := newKillRig(t), newRepo(t, sample)
	v := rig.detach(taskNamed(repo, "one", "sleep 1000"))
	waitFor(t, "the work", func() bool {
		body, err := os.ReadFile(filepath.Join(rig.state, "runs", v.RunID, "events.ndjson"))
		return err == nil && strings.Contains(string(body), `"phase":"agent"`)
	})
	rig.killWorker(v.RunID)
	if res, exit := rig.await(v.RunID); exit != document.ExitFailed || !hasCode(res, "runner_lost") {
		t.Errorf("exit %d, %v", exit, codes(res))
	}
	rig.idle()
}
