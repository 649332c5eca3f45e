package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/schemas/closed"
)

// storedResult reads the result of a run in the state directory.
func storedResult(t *testing.T, state, run string) document.Result {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(state, "runs", run, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var res document.Result
	if err := errors.Join(json.Unmarshal(body, &res), closed.Validate("result", body)); err != nil {
		t.Fatal(err)
	}
	return res
}

// soleRun is the id of the only run of a state directory.
func soleRun(t *testing.T, state string) string {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(state, "runs", "*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs %v, %v; want one", runs, err)
	}
	return filepath.Base(runs[0])
}

// end sends a signal to a live run and waits for its end.
func (l *live) end(t *testing.T, sig syscall.Signal) int {
	t.Helper()
	if err := l.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	_ = l.cmd.Wait() // the exit code is what counts
	return l.cmd.ProcessState.ExitCode()
}

func TestHangUpStopsCleanlyUnlessIgnored(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("hang-ups are ignored here (start the tests without nohup)")
	}
	rig, repo := newRig(t), newRepo(t, sample)
	l := startLive(t, rig, repo)
	exit := l.end(t, syscall.SIGHUP)
	res := storedResult(t, rig.state, l.run)
	if exit != 129 || res.Status != document.StatusPartial || !hasCode(res, "interrupted") || !bytes.Contains(l.out.Bytes(), []byte(l.run)) {
		t.Errorf("exit %d, %s %v: %s", exit, res.Status, codes(res), l.out.Bytes())
	}

	rig = newRig(t)
	var out bytes.Buffer
	c := rig.command("execute", "--quiet", "-")
	c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh", program}, c.Args[1:]...)
	c.Stdin, c.Stdout = bytes.NewReader(marshal(t, repo.task("echo early > early.txt", "sleep 1000"))), &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	l = &live{rig: rig, cmd: c}
	waitFor(t, "the first command", func() bool { return journalHas(rig.state, "early.txt") })
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	exit = l.end(t, syscall.SIGTERM)
	if exit != 143 {
		t.Errorf("exit %d: the hang-up was obeyed: %s", exit, out.Bytes())
	}
}

// journalHas reports whether a journal in a state directory contains a text.
func journalHas(state, text string) bool {
	journals, err := filepath.Glob(filepath.Join(state, "runs", "*", "events.ndjson"))
	if err != nil {
		return false
	}
	for _, j := range journals {
		if body, err := os.ReadFile(j); err == nil && strings.Contains(string(body), text) {
			return true
		}
	}
	return false
}

func TestSecondSignalEndsAtOnceWithADocument(t *testing.T) {
	t.Parallel()
	for _, signals := range [][]syscall.Signal{
		{syscall.SIGINT, syscall.SIGINT},
		{syscall.SIGTERM, syscall.SIGINT},
		{syscall.SIGINT, syscall.SIGTERM, syscall.SIGTERM},
	} {
		t.Run(fmt.Sprint(signals), func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			proxy := behind(t, rig)
			rig.hasten() // it waits for the hung engine
			l := startLive(t, rig, repo)
			rig.program = ""
			// The end that the first signal waits for never comes.
			proxy.Hang(true)
			began := time.Now()
			for i, sig := range signals {
				if err := l.cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				// Pending signals arrive in the order of their numbers, not of their age.
				waitFor(t, "the signal to be obeyed", func() bool { return l.says([]string{": stopping", " again: ", ""}[i]) })
			}
			_ = l.cmd.Wait() // the exit code is what counts
			if took, exit := time.Since(began), l.cmd.ProcessState.ExitCode(); took > 30*time.Second || exit != 128+int(signals[1]) {
				t.Errorf("exit %d after %s", exit, took)
			}
			var doc refusal
			if err := errors.Join(json.Unmarshal(l.out.Bytes(), &doc), closed.Validate("error", l.out.Bytes())); err != nil || !strings.Contains(doc.Error.Message, l.run) {
				t.Errorf("%v: %+v: %s", err, doc, l.out.Bytes())
			}
			proxy.Hang(false)
			if _, o := rig.execute(repo.task("true")); o.exit != 0 {
				t.Errorf("the next run: exit %d: %s", o.exit, o.stderr)
			}
			if res := storedResult(t, rig.state, l.run); res.Status != document.StatusFailed || !hasCode(res, "runner_lost") {
				t.Errorf("the abandoned run: %s %v", res.Status, codes(res))
			}
		})
	}
}

func TestARunWhoseReadersAreGoneKeepsItsResult(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"document": {"--quiet"}, "progress": nil, "events": {"--events", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			c := rig.command(append(append([]string{"execute"}, flags...), "-")...)
			c.Stdin = bytes.NewReader(marshal(t, repo.task("echo x > x.txt", "sleep 1")))
			readers := make([]*os.File, 0, 2)
			for _, end := range []*io.Writer{&c.Stdout, &c.Stderr} {
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				*end, readers = w, append(readers, r)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			for _, r := range readers {
				r.Close()
			}
			_ = c.Wait() // the exit code is what counts
			res := storedResult(t, rig.state, soleRun(t, rig.state))
			if exit := c.ProcessState.ExitCode(); exit != 0 || res.Status != document.StatusSuccess || res.Git.Branch == "" {
				t.Errorf("exit %d (%s), %s %v", exit, c.ProcessState, res.Status, codes(res))
			}
		})
	}
}

func TestAProgramWithoutStreamsOrParentRunsToItsEnd(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := filepath.Join(t.TempDir(), "task.json")
	if err := os.WriteFile(task, marshal(t, repo.task("echo early > early.txt", "sleep 1")), 0o600); err != nil {
		t.Fatal(err)
	}
	c := rig.command("execute", task)
	c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `"$@" <&- >&- 2>&- & echo $!; wait`, "sh", program}, c.Args[1:]...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the first command", func() bool { return journalHas(rig.state, "early.txt") })
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	waitFor(t, "the orphan's end", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) })
	if res := storedResult(t, rig.state, soleRun(t, rig.state)); res.Status != document.StatusSuccess || res.Git.Branch == "" {
		t.Errorf("%s %v", res.Status, codes(res))
	}
}

func zombie(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && strings.Contains(string(status), "\nState:\tZ")
}
