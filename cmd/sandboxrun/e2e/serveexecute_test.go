package e2e

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/runner/document"
	"sandboxrun/runner/view"
	"sandboxrun/schemas/closed"
)

// submit sends a task and returns the run.
func (s *served) submit(task map[string]any) view.RunView {
	s.rig.t.Helper()
	status, body := s.send(http.MethodPost, "/execute", string(marshal(s.rig.t, task)), "Content-Type", "application/json", "Prefer", "respond-async")
	var v view.RunView
	if err := json.Unmarshal(body, &v); err != nil || status != http.StatusAccepted || v.RunID == "" {
		s.rig.t.Fatalf("%d: %v: %s", status, err, body)
	}
	return v
}

// code is the code of a problem.
func code(body []byte) string {
	var p struct {
		Error document.ErrorBody `json:"error"`
	}
	_ = json.Unmarshal(body, &p) // another answer has none
	return p.Error.Code
}

func TestExecuteThroughTheServer(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	s := rig.serve()
	status, body := s.post("/execute", string(marshal(t, taskNamed(repo, "one", "echo new > new.txt; sleep 2"))))
	var res document.Result
	if err := json.Unmarshal(body, &res); err != nil || status != http.StatusOK || res.Status != document.StatusSuccess || res.Git.Branch != "sandboxrun/one" {
		t.Fatalf("%d: %v: %.1000s\n%s", status, err, body, s.logged())
	}
	if err := closed.Validate("result", body); err != nil {
		t.Error(err)
	}
	s.reviewAndApply(repo, res.RunID)
	// The same task has its result already.
	if status, again := s.post("/execute", string(marshal(t, taskNamed(repo, "one", "echo new > new.txt; sleep 2")))); status != http.StatusOK || !strings.Contains(string(again), res.RunID) {
		t.Errorf("again: %d %.300s", status, again)
	}
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"another task":  {string(marshal(t, taskNamed(repo, "one", "true"))), 409, "task_id_reused"},
		"no task":       {`{"objective": 1}`, 400, "invalid"},
		"twice":         {`{"objective":"a","objective":"b"}`, 400, "invalid"},
		"no repository": {string(marshal(t, map[string]any{"objective": "x", "context": map[string]any{"repo_root": "/nowhere"}, "execution_mode": "command", "suggested_commands": []string{"true"}})), 400, "invalid"},
		"empty":         {"", 400, "malformed"},
	} {
		if status, body := s.post("/execute", c.body); status != c.status || code(body) != c.code {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if status, body := s.send(http.MethodPost, "/execute", "{}", "Content-Type", "application/json", "Prefer", "wait=soon"); status != 400 || code(body) != "bad_parameter" {
		t.Errorf("%d %s", status, body)
	}
	v := s.submit(taskNamed(repo, "two", "sleep 2"))
	status, body = s.send(http.MethodPost, "/execute", string(marshal(t, taskNamed(repo, "two", "sleep 2"))), "Content-Type", "application/json", "Prefer", "wait=60")
	if status != http.StatusOK || !strings.Contains(string(body), v.RunID) {
		t.Errorf("%d %.300s", status, body)
	}
	rig.idle()
}

// A server that is killed while tasks run and wait harms none of them: the next one goes on.
func TestAKilledServerHarmsNoTask(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.config["serve"] = map[string]any{"max_parallel": 1}
	s := rig.serve()
	first := s.submit(taskNamed(repo, "one", "sleep 3"))
	waitFor(t, "the first task", func() bool {
		_, body := s.get("/api/runs/" + first.RunID)
		return !strings.Contains(string(body), `"state": "queued"`)
	})
	second := s.submit(taskNamed(repo, "two", "true"))
	if status, body := s.get("/api/runs/" + second.RunID); status != 200 || !strings.Contains(string(body), `"state": "queued"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := s.get("/api/runs?state=queued"); status != 200 || !strings.Contains(string(body), second.RunID) || strings.Contains(string(body), first.RunID) {
		t.Errorf("%d %s", status, body)
	}
	s.stop(syscall.SIGKILL)
	again := rig.serve()
	for _, v := range []view.RunView{first, second} {
		if res, exit := rig.await(v.RunID); exit != 0 || res.RunID != v.RunID {
			t.Errorf("%s: exit %d, %v", v.TaskID, exit, codes(res))
		}
	}
	rig.oneResult("one")
	rig.oneResult("two")
	if code := again.stop(syscall.SIGINT); code != 0 {
		t.Errorf("stopped with %d: %s", code, again.logged())
	}
	rig.idle()
}

// A worker that is killed is settled by the server within two seconds and something.
func TestTheServerSettlesADeadWorker(t *testing.T) {
	t.Parallel()
	rig, repo := newKillRig(t), newRepo(t, sample)
	s := rig.serve()
	v := s.submit(taskNamed(repo, "one", "sleep 1000"))
	waitFor(t, "the work", func() bool {
		_, body := s.get("/api/runs/" + v.RunID)
		return strings.Contains(string(body), `"phase": "agent"`)
	})
	rig.killWorker(v.RunID)
	began := time.Now()
	waitFor(t, "the result", func() bool {
		_, body := s.get("/api/runs/" + v.RunID)
		return strings.Contains(string(body), `"state": "ended"`)
	})
	t.Logf("settled after %s", time.Since(began))
	if res := rig.stored(v.RunID); !hasCode(res, "runner_lost") {
		t.Errorf("%v", codes(res))
	}
}

// What does not begin in time is withdrawn: nothing of it runs later. What waits can be cancelled.
func TestTasksThatWaitTooLongAreWithdrawn(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.config["serve"] = map[string]any{"max_parallel": 1, "queue_wait_seconds": 1}
	s := rig.serve()
	long := s.submit(taskNamed(repo, "long", "sleep 1000"))
	waitFor(t, "the work", func() bool {
		_, body := s.get("/api/runs/" + long.RunID)
		return strings.Contains(string(body), `"state": "running"`)
	})
	status, body := s.post("/execute", string(marshal(t, taskNamed(repo, "late", "true"))))
	if status != http.StatusServiceUnavailable || code(body) != "queue_timeout" {
		t.Errorf("%d %s", status, body)
	}
	if names, err := filepath.Glob(filepath.Join(rig.state, "queue", "*.json")); err != nil || len(names) != 0 {
		t.Errorf("left in the queue: %v, %v", names, err)
	}
	waiting := s.submit(taskNamed(repo, "waiting", "true"))
	if status, body := s.post("/api/runs/"+waiting.RunID+"/cancel", `{"reason":"no"}`); status != http.StatusAccepted || !strings.Contains(string(body), `"ended"`) {
		t.Errorf("%d %s", status, body)
	}
	res, exit := rig.await(waiting.RunID)
	if exit != document.ExitFailed || !hasCode(res, "cancelled") || !strings.Contains(res.Issues[0].Description, "no") || res.Box == nil || !res.Box.Cleanup.Complete {
		t.Errorf("cancelled while it waited: exit %d, %+v", exit, res)
	}
	if doc, err := json.Marshal(res); err != nil || closed.Validate("result", doc) != nil {
		t.Errorf("%v, %v", err, closed.Validate("result", doc))
	}
	if status, body := s.post("/api/runs/"+long.RunID+"/cancel", ""); status != http.StatusAccepted {
		t.Errorf("%d %s", status, body)
	}
	if res, _ := rig.await(long.RunID); !hasCode(res, "cancelled") {
		t.Errorf("%v", codes(res))
	}
}

// A server may be bound to directories, and may end its runs when it stops. The answer to a caller who waits meanwhile
// names the run.
func TestTheServersRepositoriesAndItsEnd(t *testing.T) {
	t.Parallel()
	rig, repo, other := newRig(t), newRepo(t, sample), newRepo(t, sample)
	rig.config["serve"] = map[string]any{"repo_roots": []string{filepath.Dir(repo.dir)}, "on_stop": "stop", "max_parallel": 1}
	s := rig.serve()
	for _, dir := range []string{other.dir, "/", "/nowhere"} {
		task := repo.task("true")
		task["context"] = map[string]any{"repo_root": dir}
		if status, body := s.post("/execute", string(marshal(t, task))); status != 403 || code(body) != "repo_not_allowed" || len(dir) > 1 && strings.Contains(string(body), dir) {
			t.Errorf("%s: %d %s", dir, status, body)
		}
	}
	long := s.submit(taskNamed(repo, "long", "echo half > half.txt; sleep 1000"))
	waitFor(t, "the work", func() bool {
		_, body := s.get("/api/runs/" + long.RunID)
		return strings.Contains(string(body), `"phase": "agent"`)
	})
	var waits sync.WaitGroup
	waits.Go(func() {
		if status, body := s.post("/execute", string(marshal(t, taskNamed(repo, "next", "true")))); status != http.StatusServiceUnavailable || code(body) != "server_stopping" {
			t.Errorf("a caller who waits: %d %s", status, body)
		}
	})
	var next string
	waitFor(t, "the second task", func() bool {
		names, err := filepath.Glob(filepath.Join(rig.state, "queue", "[0-9a-z]*.json")) // not one that is being written
		if err != nil || len(names) != 1 {
			return false
		}
		next = strings.TrimSuffix(filepath.Base(names[0]), ".json")
		return true
	})
	if code := s.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("stopped with %d: %s", code, s.logged())
	}
	waits.Wait()
	if res, _ := rig.await(long.RunID); !hasCode(res, "cancelled") || res.Git.Branch != "" {
		t.Errorf("%v", codes(res))
	}
	// What waited goes on without a server.
	if res, exit := rig.await(next); exit != 0 {
		t.Errorf("exit %d, %v", exit, codes(res))
	}
	rig.idle()
}

// The command line has a server run a task as it would itself; without a server nothing runs.
func TestExecuteWithServer(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := string(marshal(t, taskNamed(repo, "one", "echo new > new.txt")))
	for _, where := range []string{"auto", "http://127.0.0.1:1"} {
		if o := rig.run([]byte(task), "execute", "--server", where, "-"); o.exit != document.ExitBridge || !strings.Contains(string(o.stdout), "bridge_failure") {
			t.Errorf("%s: exit %d: %s%s", where, o.exit, o.stdout, o.stderr)
		}
	}
	if runs := rig.runIDs(); len(runs) != 0 {
		t.Errorf("ran without a server: %v", runs)
	}
	s := rig.serve()
	res, o := rig.execute(taskNamed(repo, "one", "echo new > new.txt"), "--server", "auto")
	if o.exit != 0 || res.Git.Branch != "sandboxrun/one" || changes(res)["new.txt"] != "added" {
		t.Errorf("exit %d, %+v, %v", o.exit, res.Git, codes(res))
	}
	if o := rig.run([]byte(task), "execute", "--server", s.url, "--detach", "-"); o.exit != 0 || !strings.Contains(string(o.stdout), res.RunID) {
		t.Errorf("exit %d: %s%s", o.exit, o.stdout, o.stderr)
	}
	if o := rig.run([]byte(task), "execute", "--server", "auto", "--agent", "claude", "-"); o.exit != document.ExitInput || !strings.Contains(string(o.stderr), "--agent") {
		t.Errorf("exit %d: %s", o.exit, o.stderr)
	}
	if o := rig.run([]byte(strings.Replace(task, "new.txt", "x", 1)), "execute", "--server", "auto", "-"); o.exit != document.ExitInput {
		t.Errorf("another task under the id: exit %d: %s", o.exit, o.stdout)
	}
	failing, o := rig.execute(taskNamed(repo, "two", "exit 3"), "--server", "auto")
	if o.exit != document.ExitFailed || !hasCode(failing, "command_failed") {
		t.Errorf("exit %d, %v", o.exit, codes(failing))
	}
}

// A follow-up goes on with the conversation, the files and the criteria of its session.
func TestAFollowUpGoesOnWithItsSession(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.model(modelserver.Scenario{Name: "talk", Steps: []modelserver.Step{
		shell("echo one > one.txt"), say("First."), shell("cat one.txt && echo two > two.txt"), say("Second."),
	}})
	s := rig.serve()
	task := sessionTask(repo, "", "Begin.")
	task["acceptance_criteria"] = []any{map[string]any{"command": "test -e one.txt"}}
	first, exit := rig.await(s.begin(map[string]any{"session_id": "talk", "task": task}).Run.RunID)
	if exit != 0 {
		t.Fatalf("exit %d, %+v", exit, first.Issues)
	}
	for name, c := range map[string]struct {
		session, body string
		status        int
	}{
		"no prompt":      {"talk", `{}`, 400},
		"unknown field":  {"talk", `{"prompt":"x","agent":"claude"}`, 400},
		"no session":     {"other", `{"prompt":"x"}`, 404},
		"no such run":    {"talk", `{"prompt":"x","retry_process_id":"0000"}`, 202}, // refused when its turn comes
		"wrong criteria": {"talk", `{"prompt":"x","acceptance_criteria":[1]}`, 400},
	} {
		status, body := s.post("/api/sessions/"+c.session+"/follow-up", c.body)
		if status != c.status {
			t.Errorf("%s: %d %s", name, status, body)
		}
		var accepted struct {
			Run view.RunView `json:"run"`
		}
		if status == http.StatusAccepted && json.Unmarshal(body, &accepted) == nil {
			if o := rig.run(nil, "runs", "wait", accepted.Run.RunID); o.exit != document.ExitInput {
				t.Errorf("%s: exit %d: %s", name, o.exit, o.stdout)
			}
		}
	}
	status, body := s.post("/api/sessions/talk/follow-up", `{"prompt":"Go on. Add the second file.","queue":true}`)
	var accepted struct {
		Run view.RunView `json:"run"`
	}
	if err := json.Unmarshal(body, &accepted); err != nil || status != http.StatusAccepted || accepted.Run.Objective != "Go on." {
		t.Fatalf("%d %s", status, body)
	}
	second, exit := rig.await(accepted.Run.RunID)
	if exit != 0 || changes(second)["two.txt"] != "added" || len(second.Acceptance) != 1 || second.Session == nil || second.Session.ID != "talk" {
		t.Errorf("exit %d, %v, %+v, %+v", exit, changes(second), second.Issues, second.Acceptance)
	}
}
