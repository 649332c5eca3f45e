package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

// faultyReader makes the process that reads what a box left fail: "kill middle". Only the mortal program knows how.
func (r *rig) faultyReader(fault string) {
	r.program = mortalProgram(r.t)
	r.env = append(slices.Clone(r.env), "SANDBOXRUN_TEST_READER="+fault)
}

// Whatever becomes of the process that reads, the result arrives, the repository is as it was, and nothing is left behind.
func TestARunWhoseReaderFailsHasAResultAndLandsNothing(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, agentImage)
	mortalProgram(t)
	for fault, want := range map[string]string{
		"kill start": "runner_error", "kill middle": "runner_error", "panic middle": "runner_error", "garbage middle": "runner_error",
		"endless start": "runner_error", "memory middle": "tree_too_large", "truncate middle": "runner_error",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			r, repo := newRig(t), newRepo(t, sample)
			before := fingerprint(t, repo.dir)
			r.faultyReader(fault)
			res, o := r.execute(repo.task("echo new > new.txt"))
			if res.Status != document.StatusFailed || o.exit != document.ExitFailed || !hasCode(res, want) || len(res.FilesChanged) != 0 {
				t.Errorf("exit %d, %s, issues %+v, files %+v", o.exit, res.Status, res.Issues, res.FilesChanged)
			}
			if res.Git.Branch != "" || res.Git.Patch != "" || (res.Git.Tree != "") != strings.HasSuffix(fault, "middle") {
				t.Errorf("git %+v", res.Git)
			}
			if left, err := filepath.Glob(filepath.Join(r.state, "runs", res.RunID, "diff.patch")); err != nil || len(left) != 0 {
				t.Errorf("patch %v, %v", left, err)
			}
			if after := fingerprint(t, repo.dir); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Error("the repository changed")
			}
			if o := r.run(nil, "apply", res.RunID); o.exit == 0 && strings.Contains(string(o.stdout), "new.txt") {
				t.Errorf("the change was applied: %s", o.stdout)
			}
		})
	}
}

// reading is a run in the background whose reader hangs, and the number of that reader.
func startReading(t *testing.T, r *rig, repo *repo) (l *live, reader int) {
	t.Helper()
	l = &live{rig: r}
	r.faultyReader("hang middle")
	l.cmd = r.command("execute", "--quiet", "-")
	l.cmd.Stdin = bytes.NewReader(marshal(t, repo.task("echo new > new.txt")))
	l.cmd.Stdout = &l.out
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the captured tree", func() bool {
		steps, err := filepath.Glob(filepath.Join(r.state, "runs", "*", "steps.ndjson"))
		if err != nil || len(steps) == 0 {
			return false
		}
		l.run = filepath.Base(filepath.Dir(steps[0]))
		body, err := os.ReadFile(steps[0])
		return err == nil && strings.Contains(string(body), `"tree"`)
	})
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", l.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range threads {
		body, _ := os.ReadFile(path) // a thread may have ended
		for number := range strings.FieldsSeq(string(body)) {
			line, _ := os.ReadFile("/proc/" + number + "/cmdline")
			if strings.Contains(string(line), "read-tree") {
				reader, err = strconv.Atoi(number)
			}
		}
	}
	if err != nil || reader == 0 {
		t.Fatalf("no process reads: %v", err)
	}
	return l, reader
}

// gone waits until no process has a number any more.
func gone(t *testing.T, pid int) {
	t.Helper()
	waitFor(t, "the end of the process that reads", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
}

func TestASignalEndsTheReadingWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, agentImage)
	r, repo := newRig(t), newRepo(t, sample)
	l, reader := startReading(t, r, repo)
	began := time.Now()
	if err := l.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	gone(t, reader)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the reading went on for %s", took)
	}
	_ = l.cmd.Wait() // the exit code is checked below
	var res document.Result
	if err := json.Unmarshal(l.out.Bytes(), &res); err != nil {
		t.Fatalf("no result: %v: %s", err, l.out.Bytes())
	}
	if code := l.cmd.ProcessState.ExitCode(); code != 143 || !hasCode(res, "interrupted") || res.Git.Branch != "" || res.Git.Patch != "" {
		t.Errorf("exit %d, %s, %v, git %+v", code, res.Status, codes(res), res.Git)
	}
}

// The reader of a runner that dies is gone with it, and a later runner reads the tree anew.
func TestARunnerThatDiesTakesItsReaderAlong(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, agentImage)
	r, repo := newRig(t), newRepo(t, sample)
	l, reader := startReading(t, r, repo)
	if err := l.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = l.cmd.Wait() // it was killed
	gone(t, reader)
	r.env = slices.DeleteFunc(r.env, func(v string) bool { return strings.HasPrefix(v, "SANDBOXRUN_TEST_READER=") })
	if o := r.run(nil, "reap"); o.exit != 0 {
		t.Fatalf("reap: exit %d: %s", o.exit, o.stderr)
	}
	o := r.run(nil, "runs", "show", "--json", l.run)
	var res document.Result
	if err := json.Unmarshal(o.stdout, &res); err != nil {
		t.Fatalf("no result: %v: %s %s", err, o.stdout, o.stderr)
	}
	if !hasCode(res, "runner_lost") || changes(res)["new.txt"] != "added" || res.Git.Patch == "" {
		t.Errorf("%v, files %+v, git %+v", codes(res), res.FilesChanged, res.Git)
	}
}
