package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox/sandboxtest"
	"sandboxrun/schemas/closed"
)

// engineSocket is the socket of the tests' engine.
const engineSocket = "/var/run/docker.sock"

// faultBound is how long a run may take, whatever its engine does.
const faultBound = 100 * time.Second

// hasty is the program under test with a fifth of the patience for engines.
var hasty = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(program), "hasty")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-X sandboxrun/sandbox/docker.haste=5", "-o", path, "sandboxrun/cmd/sandboxrun")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the hasty program: %w\n%s", err, out)
	}
	return path, nil
})

// hasten makes the rig's program the hasty one.
func (r *rig) hasten() {
	r.t.Helper()
	path, err := hasty()
	if err != nil {
		r.t.Fatal(err)
	}
	r.program = path
}

// faultRun is one run behind a proxy, and its outcome.
type faultRun struct {
	name   string
	rig    *rig
	repo   *repo
	task   string
	proxy  *sandboxtest.FaultProxy
	before map[string]string

	exit           int
	took           time.Duration
	stdout, stderr bytes.Buffer
	result         *document.Result
	refusal        *refusal
	wrong          []string
}

// trueExits are how the commands of a fault run really end.
var trueExits = map[string]int{
	"echo x > x.txt; echo done": 0,
	"test -f x.txt && exit 7":   7,
}

func newFaultRun(t *testing.T, name string) *faultRun {
	t.Helper()
	f := &faultRun{name: name, rig: newRig(t), repo: newRepo(t, sample), task: "fault", proxy: sandboxtest.NewFaultProxy(t, engineSocket)}
	f.rig.env = append(f.rig.env, "DOCKER_HOST="+f.proxy.Host())
	f.before = fingerprint(t, f.repo.dir)
	return f
}

// command is the invocation. Its parts that may fail a test are done here, so
// that run can be called off the test's own goroutine.
func (f *faultRun) command(t *testing.T) *exec.Cmd {
	t.Helper()
	f.rig.hasten()
	c := f.rig.command("execute", "--quiet", "-")
	task := f.repo.task("echo x > x.txt; echo done")
	task["task_id"] = f.task
	task["acceptance_criteria"] = []any{map[string]any{"command": "test -f x.txt && exit 7", "expect_exit": 7}}
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(marshal(t, task)), &f.stdout, &f.stderr
	return c
}

// run waits for the end of the program, for at most faultBound.
func (f *faultRun) run(ctx context.Context, c *exec.Cmd) {
	began := time.Now()
	if err := c.Start(); err != nil {
		f.failf("start: %v", err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	bound, cancel := context.WithTimeout(ctx, faultBound)
	defer cancel()
	select {
	case <-ended: //nolint:errcheck // the exit code is what counts
	case <-bound.Done():
		_ = c.Process.Kill()
		<-ended //nolint:errcheck // it was killed
		f.failf("did not end within %s", faultBound)
	}
	f.took, f.exit = time.Since(began), c.ProcessState.ExitCode()
}

func (f *faultRun) failf(format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

// judge compares the run's document with the facts.
func (f *faultRun) judge(t *testing.T) {
	t.Helper()
	var kind struct {
		Error any    `json:"error"`
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal(f.stdout.Bytes(), &kind); err != nil {
		f.failf("no document (exit %d): %v: %.500s %.2000s", f.exit, err, f.stdout.Bytes(), f.stderr.Bytes())
		return
	}
	if kind.Error != nil {
		f.judgeRefusal()
	} else {
		f.judgeResult(t)
	}
}

func (f *faultRun) judgeRefusal() {
	f.refusal = &refusal{}
	if err := errors.Join(json.Unmarshal(f.stdout.Bytes(), f.refusal), closed.Validate("error", f.stdout.Bytes())); err != nil {
		f.failf("error document: %v", err)
	}
	if f.exit != 5 || f.refusal.Error.Type != "bridge_failure" || f.refusal.Error.Hint == "" {
		f.failf("exit %d, %+v: want a bridge failure with a hint", f.exit, f.refusal.Error)
	}
	if runs, err := filepath.Glob(filepath.Join(f.rig.state, "runs", "*")); err != nil || len(runs) > 0 {
		f.failf("refused, and yet there are runs: %v, %v", runs, err)
	}
}

func (f *faultRun) judgeResult(t *testing.T) {
	t.Helper()
	res := &document.Result{}
	f.result = res
	if err := errors.Join(json.Unmarshal(f.stdout.Bytes(), res), closed.Validate("result", f.stdout.Bytes())); err != nil {
		f.failf("result: %v", err)
		return
	}
	if stored, err := os.ReadFile(filepath.Join(f.rig.state, "runs", res.RunID, "result.json")); err != nil || !bytes.Equal(stored, f.stdout.Bytes()) {
		f.failf("the stored result is not the printed one: %v", err)
	}
	if want := document.ExitCode(res, nil); f.exit != want {
		f.failf("exit %d, want %d for %s %v", f.exit, want, res.Status, codes(*res))
	}
	for _, c := range res.CommandsRun {
		// The engine reports 126 for a process that it could not start.
		if c.ExitCode != nil && *c.ExitCode != trueExits[c.Command] && *c.ExitCode != 126 {
			f.failf("%q is reported with exit code %d", c.Command, *c.ExitCode)
		}
	}
	if (res.Status == document.StatusSuccess) != (len(res.Issues) == 0) {
		f.failf("%s with %d issues", res.Status, len(res.Issues))
	}
	if hasCode(*res, document.CodeRunnerError) {
		f.failf("an engine's fault was reported as our own: %+v", res.Issues)
	}
	if left := f.leftOnEngine(t, res.RunID); res.Box.Cleanup.Complete && len(left) > 0 || res.Box.Cleanup.Complete == hasCode(*res, "cleanup_failed") {
		f.failf("cleanup %+v, codes %v, and the engine has %v", res.Box.Cleanup, codes(*res), left)
	}
	f.judgeLanding(t)
}

// judgeLanding checks that the branch in the result exists, and no other.
func (f *faultRun) judgeLanding(t *testing.T) {
	t.Helper()
	res := f.result
	refs := strings.Fields(f.repo.git("for-each-ref", "--format=%(refname:short)"))
	want := []string{"main"}
	if res.Git.Branch != "" {
		want = append(want, res.Git.Branch)
		if got := f.repo.git("ls-tree", "--name-only", res.Git.Branch, "x.txt"); got != "x.txt" {
			f.failf("the branch lacks the change: %q", got)
		}
	}
	if !slices.Equal(refs, want) {
		f.failf("refs %v, want %v", refs, want)
	}
	if res.Status == document.StatusSuccess && (res.Git.Branch == "" || len(res.CommandsRun) != 2 ||
		slices.ContainsFunc(res.CommandsRun, func(c document.CommandRun) bool { return c.ExitCode == nil })) {
		f.failf("a success without a branch or commands: branch %q, %+v", res.Git.Branch, res.CommandsRun)
	}
}

// leftOnEngine lists a run's objects on the engine itself, without the proxy.
func (f *faultRun) leftOnEngine(t *testing.T, run string) []string {
	t.Helper()
	var left []string
	for _, list := range [][]string{{"ps", "-aq"}, {"volume", "ls", "-q"}} {
		out, err := exec.Command("docker", append(list, "--filter", "label=sandboxrun.owner="+f.owner(t, run))...).Output()
		if err != nil {
			t.Fatalf("docker %v: %v", list, err)
		}
		left = append(left, strings.Fields(string(out))...)
	}
	return left
}

func (f *faultRun) owner(t *testing.T, run string) string {
	t.Helper()
	st, err := state.Open(f.rig.state)
	if err != nil {
		t.Fatal(err)
	}
	return st.Owner(run)
}

// recover heals the engine and reaps; the rig checks for leftovers.
func (f *faultRun) recover(t *testing.T) {
	t.Helper()
	f.proxy.Heal()
	f.proxy.Hang(false)
	f.proxy.Accept()
	if o := f.rig.run(nil, "reap"); o.exit != 0 {
		f.failf("reap: exit %d: %s", o.exit, o.stderr)
	}
	after := fingerprint(t, f.repo.dir)
	for name, sum := range f.before {
		if after[name] != sum {
			f.failf("the user's repository changed: %s", name)
		}
	}
}

// outcome is the run in a few words.
func (f *faultRun) outcome() string {
	switch {
	case f.refusal != nil:
		return "refused: " + f.refusal.Error.Type
	case f.result != nil:
		text := string(f.result.Status)
		for _, code := range codes(*f.result) {
			text += " " + code
		}
		return text
	}
	return "nothing"
}
