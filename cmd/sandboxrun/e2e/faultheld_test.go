package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
	"sandboxrun/schemas/closed"
)

// held is a run that waits in its box until the test continues it.
type held struct {
	*live
	t    *testing.T
	errs bytes.Buffer
}

// hold starts a task that writes early.txt and then waits in its box.
func hold(t *testing.T, r *rig, task map[string]any) *held {
	t.Helper()
	h := &held{live: &live{rig: r}, t: t}
	task["suggested_commands"] = []string{"echo early > early.txt", "touch /tmp/held; while [ ! -e /tmp/go ]; do sleep 0.05; done; echo late > late.txt"}
	h.cmd = r.command("execute", "--quiet", "-")
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = bytes.NewReader(marshal(t, task)), &h.out, &h.errs
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the first command's event", func() bool { return journalHas(r.state, "early.txt") })
	h.run = soleRun(t, r.state)
	box := h.box()
	waitFor(t, "the second command", func() bool {
		_, err := dockerIn(t, "exec", box, "test", "-e", "/tmp/held")
		return err == nil
	})
	return h
}

// dockerIn runs the engine's client, for a bounded time.
func dockerIn(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	return string(out), err
}

// box is the container the run works in.
func (h *held) box() string {
	h.t.Helper()
	st, err := state.Open(h.rig.state)
	if err != nil {
		h.t.Fatal(err)
	}
	var box string
	waitFor(h.t, "the box", func() bool {
		out, err := exec.Command("docker", "ps", "-aq", "--filter", "label=sandboxrun.owner="+st.Owner(h.run), "--filter", "label=sandboxrun.role=agent").Output()
		box = strings.TrimSpace(string(out))
		return err == nil && box != ""
	})
	return box
}

// release continues the run and returns its result.
func (h *held) release() (document.Result, int) {
	h.t.Helper()
	if out, err := dockerIn(h.t, "exec", h.box(), "touch", "/tmp/go"); err != nil {
		h.t.Errorf("release: %v: %s", err, out)
	}
	return h.wait()
}

// wait waits for the end of the run and returns its result.
func (h *held) wait() (res document.Result, exit int) {
	h.t.Helper()
	_ = h.cmd.Wait() // the exit code is what counts
	if err := errors.Join(json.Unmarshal(h.out.Bytes(), &res), closed.Validate("result", h.out.Bytes())); err != nil {
		h.t.Fatalf("no result: %v: %s%s", err, h.out.Bytes(), h.errs.Bytes())
	}
	return res, h.cmd.ProcessState.ExitCode()
}
