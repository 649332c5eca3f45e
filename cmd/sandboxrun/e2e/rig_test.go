package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
	"sandboxrun/schemas/closed"
)

// realKey must never appear in a box, log or result.
const realKey = "sk-ant-e2e-the-real-key-0123456789abcdef"

// rig is one isolated installation of the program: its own state, its own
// configuration, its own provider.
type rig struct {
	t       *testing.T
	state   string
	config  map[string]any
	env     []string
	timeout time.Duration
	attr    *syscall.SysProcAttr
	program string // another build of it, "" for the usual one
}

func newRig(t *testing.T) *rig {
	t.Helper()
	testenv.Engine(t, agentImage)
	dir := t.TempDir()
	r := &rig{t: t, state: filepath.Join(dir, "state"), config: map[string]any{}, timeout: 3 * time.Minute}
	r.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SANDBOXRUN_STATE_DIR=" + r.state,
		"SANDBOXRUN_CONFIG=" + filepath.Join(dir, "config.json"), "ANTHROPIC_API_KEY=" + realKey,
	}
	for _, name := range []string{"DOCKER_HOST", testenv.ImageEnv} {
		if value := os.Getenv(name); value != "" {
			r.env = append(r.env, name+"="+value)
		}
	}
	t.Cleanup(func() { r.assertNothingLeft() })
	return r
}

// model makes the scripted provider the rig's anthropic provider.
func (r *rig) model(s modelserver.Scenario) *modelserver.Server {
	r.t.Helper()
	srv, err := modelserver.Start(s)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			r.t.Error(err)
		}
	})
	r.config["providers"] = map[string]any{"anthropic": map[string]any{"base_url": srv.URL(), "key_env": "ANTHROPIC_API_KEY"}}
	return srv
}

// models makes the scripted provider every provider of the rig, whatever their
// wire.
func (r *rig) models(s modelserver.Scenario) *modelserver.Server {
	r.t.Helper()
	srv := r.model(s)
	r.config["providers"] = map[string]any{
		"anthropic": map[string]any{"base_url": srv.URL(), "key_env": "ANTHROPIC_API_KEY"},
		"openai":    map[string]any{"base_url": srv.URL() + "/v1", "key_env": "ANTHROPIC_API_KEY"},
		"google":    map[string]any{"base_url": srv.URL(), "key_env": "ANTHROPIC_API_KEY"},
	}
	return srv
}

// outcome is one finished invocation.
type outcome struct {
	exit           int
	stdout, stderr []byte
}

func (r *rig) command(args ...string) *exec.Cmd {
	r.t.Helper()
	cfg, err := json.Marshal(r.config)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, v := range r.env {
		if path, ok := strings.CutPrefix(v, "SANDBOXRUN_CONFIG="); ok {
			r.replace(path, cfg)
		}
	}
	c := exec.Command(cmp.Or(r.program, program), args...)
	c.Env, c.SysProcAttr = r.env, r.attr
	return c
}

// replace gives a file new content at once: programs of other tests that share the rig may be reading it.
func (r *rig) replace(path string, content []byte) {
	r.t.Helper()
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Chmod(0o644), f.Close(), os.Rename(f.Name(), path)); err != nil {
		r.t.Fatal(err)
	}
}

// run invokes the program and waits for its end, for at most the rig's timeout.
func (r *rig) run(stdin []byte, args ...string) outcome {
	r.t.Helper()
	var out, errs bytes.Buffer
	c := r.command(args...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(stdin), &out, &errs
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), r.timeout)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			r.t.Fatal(err)
		}
	case <-ctx.Done():
		_ = c.Process.Kill()
		err := <-ended
		r.t.Fatalf("%v did not end within %s: %v\nstderr:\n%s", args, r.timeout, err, errs.Bytes())
	}
	return outcome{exit: c.ProcessState.ExitCode(), stdout: out.Bytes(), stderr: errs.Bytes()}
}

// execute runs a task given on standard input and decodes its result.
func (r *rig) execute(task map[string]any, flags ...string) (document.Result, outcome) {
	r.t.Helper()
	doc, err := json.Marshal(task)
	if err != nil {
		r.t.Fatal(err)
	}
	o := r.run(doc, append(append([]string{"execute"}, flags...), "-")...)
	var res document.Result
	if err := json.Unmarshal(o.stdout, &res); err != nil || res.RunID == "" {
		r.t.Fatalf("no result document (exit %d): %v\nstdout: %.2000s\nstderr: %.4000s", o.exit, err, o.stdout, o.stderr)
	}
	if err := closed.Validate("result", o.stdout); err != nil {
		r.t.Errorf("the result breaks its schema: %v", err)
	}
	return res, o
}

// refusal is an error document.
type refusal struct {
	Error struct {
		Type    string            `json:"type"`
		Message string            `json:"message"`
		Hint    string            `json:"hint"`
		Details []document.Detail `json:"details"`
	} `json:"error"`
}

// refuse runs a task that must be refused and returns its error document.
func (r *rig) refuse(task []byte) (doc refusal, exit int) {
	r.t.Helper()
	o := r.run(task, "execute", "-")
	if err := json.Unmarshal(o.stdout, &doc); err != nil || doc.Error.Type == "" {
		r.t.Fatalf("no error document (exit %d): %v\nstdout: %.2000s\nstderr: %.2000s", o.exit, err, o.stdout, o.stderr)
	}
	if err := closed.Validate("error", o.stdout); err != nil {
		r.t.Errorf("the error document breaks its schema: %v", err)
	}
	return doc, o.exit
}

// codes lists the issue codes of a result.
func codes(res document.Result) []string {
	var out []string
	for _, i := range res.Issues {
		out = append(out, i.Code)
	}
	return out
}

// changes lists the changed files of a result with their change types.
func changes(res document.Result) map[string]string {
	out := map[string]string{}
	for _, f := range res.FilesChanged {
		out[f.Path] = f.ChangeType
	}
	return out
}

func hasCode(res document.Result, code string) bool { return slices.Contains(codes(res), code) }
