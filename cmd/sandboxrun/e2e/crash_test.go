package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/runner/document"
)

// live is a run in the background that has reached its command.
type live struct {
	rig *rig
	cmd *exec.Cmd
	out bytes.Buffer
	err string // the file standard error goes to
	run string
}

// says reports whether the run has written text to standard error.
func (l *live) says(text string) bool {
	body, err := os.ReadFile(l.err)
	return err == nil && strings.Contains(string(body), text)
}

// startLive starts a task whose last command never ends, and waits until the
// journal shows that the work has begun.
func startLive(t *testing.T, r *rig, repo *repo) *live {
	t.Helper()
	l := &live{rig: r}
	l.cmd = r.command("execute", "--quiet", "-")
	l.cmd.Stdin = bytes.NewReader(marshal(t, repo.task("echo early > early.txt", "echo sleeping; sleep 1000")))
	l.cmd.Stdout = &l.out
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	l.err, l.cmd.Stderr = stderr.Name(), stderr
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the first command's event", func() bool {
		journals, err := filepath.Glob(filepath.Join(r.state, "runs", "*", "events.ndjson"))
		if err != nil || len(journals) == 0 {
			return false
		}
		body, err := os.ReadFile(journals[0])
		l.run = filepath.Base(filepath.Dir(journals[0]))
		return err == nil && strings.Contains(string(body), "early.txt")
	})
	return l
}

// waitFor polls for a state that another process creates.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(60 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

func TestSignalsStopCleanlyWithAPartialResult(t *testing.T) {
	t.Parallel()
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			l := startLive(t, rig, repo)
			if err := l.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = l.cmd.Wait() // the exit code is checked below
			var res document.Result
			if err := json.Unmarshal(l.out.Bytes(), &res); err != nil {
				t.Fatalf("no result: %v: %s", err, l.out.Bytes())
			}
			if code := l.cmd.ProcessState.ExitCode(); code != want || res.Status != document.StatusPartial || !hasCode(res, "interrupted") {
				t.Errorf("exit %d, %s, %v", code, res.Status, codes(res))
			}
			if len(res.FilesChanged) != 1 || res.FilesChanged[0].Path != "early.txt" || res.Git.Branch != "" {
				t.Errorf("files %+v, git %+v", res.FilesChanged, res.Git)
			}
		})
	}
}

func TestReapAndTheNextStartSettleAKilledRun(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"reap", "next start"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			before := fingerprint(t, repo.dir)
			l := startLive(t, rig, repo)
			if err := l.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = l.cmd.Wait()
			if by == "reap" {
				if o := rig.run(nil, "reap"); o.exit != 0 {
					t.Errorf("reap: exit %d: %s", o.exit, o.stderr)
				}
			} else if _, o := rig.execute(repo.task("true")); o.exit != 0 {
				t.Errorf("next run: exit %d: %s", o.exit, o.stderr)
			}
			body, err := os.ReadFile(filepath.Join(rig.state, "runs", l.run, "result.json"))
			if err != nil {
				t.Fatal(err)
			}
			var res document.Result
			if err := json.Unmarshal(body, &res); err != nil || res.Status != document.StatusFailed || !hasCode(res, "runner_lost") {
				t.Errorf("%v, %s, %v", err, res.Status, codes(res))
			}
			if d := cmp.Diff(before, fingerprint(t, repo.dir)); d != "" {
				t.Errorf("the user's repository changed:\n%s", d)
			}
		})
	}
}

func TestReapLeavesLiveRunsAlone(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	l := startLive(t, rig, repo)
	other := newRig(t) // another state directory must not consider them dead either
	for _, r := range []*rigType{rig, other} {
		if o := r.run(nil, "reap"); o.exit != 0 {
			t.Errorf("reap: exit %d: %s", o.exit, o.stderr)
		}
	}
	if err := l.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = l.cmd.Wait()
	if code := l.cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("the live run ended with %d, not by our signal: %s", code, l.out.Bytes())
	}
}

// rigType names the type where a variable hides it.
type rigType = rig

func TestAFullStateDirectoryStillGivesAResult(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	rig, repo := newRig(t), newRepo(t, sample)
	if err := os.MkdirAll(rig.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", rig.state, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(rig.state, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	res, o := rig.execute(repo.task("head -c 20000000 /dev/urandom > big; echo x > x"))
	if o.exit != 6 && o.exit != 4 || res.Status == document.StatusSuccess || !hasCode(res, "disk_limit") {
		t.Errorf("exit %d, %s, issues %+v", o.exit, res.Status, res.Issues)
	}
}
