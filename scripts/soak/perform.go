package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/runner/document"
)

// ending is the end of a task, as its caller saw it.
type ending struct {
	exit   int              // -1: ended by a signal
	result *document.Result // nil where none was printed
	struck bool             // whether the disturbance struck in time
	box    bool             // a box was removed while its commands ran
	stderr string
}

func (s *soak) perform(ctx context.Context, a assignment, r *repo) (ending, error) {
	return performAt(ctx, s.main, a, r)
}

// performAt runs the program for one task, and applies its disturbance.
func performAt(ctx context.Context, at *site, a assignment, r *repo) (ending, error) {
	doc, err := json.Marshal(a.kind.task(a, r))
	if err != nil {
		return ending{}, err
	}
	if a.kind.agent {
		model, err := modelserver.Start(making)
		if err != nil {
			return ending{}, err
		}
		defer func() { _ = model.Close() }() // its requests are not checked
		if at, err = at.withModel(model.URL(), a.id); err != nil {
			return ending{}, err
		}
		defer func() { _ = os.Remove(at.config) }()
	}
	c := at.command(ctx, "execute", "--quiet", "-")
	c.Env = append(c.Env, "SOAK_KEY=no-key-at-all-0123456789")
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(doc), &out, &errs
	if err := c.Start(); err != nil {
		return ending{}, err
	}
	over := make(chan struct{})
	var e ending
	var wg sync.WaitGroup
	wg.Go(func() {
		e.struck, e.box = strike(at, a, over, func(sig syscall.Signal) error { return c.Process.Signal(sig) })
	})
	err = c.Wait()
	close(over)
	wg.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return ending{}, err
	}
	e.exit, e.stderr = c.ProcessState.ExitCode(), errs.String()
	var res document.Result
	if json.Unmarshal(out.Bytes(), &res) == nil && res.RunID != "" {
		e.result = &res
	}
	return e, nil
}

// making is the script of the model.
var making = modelserver.Scenario{Name: "make", Steps: []modelserver.Step{
	{Tools: []modelserver.ToolUse{modelserver.Tool("Write", map[string]any{"file_path": "/workspace/made.txt", "content": "made\n"})}},
	{Text: "Done."},
}}

// signals are the signals of the disturbances that end the runner.
var signals = map[disturbance]syscall.Signal{killed: syscall.SIGKILL, terminated: syscall.SIGTERM, stopped: syscall.SIGINT}

// lookInterval is how often a run is polled to strike at the right moment.
const lookInterval = 3 * time.Millisecond

// strike waits for a task's moment and applies its disturbance. struck is false where the task had ended before.
func strike(at *site, a assignment, over <-chan struct{}, hit func(syscall.Signal) error) (struck, box bool) {
	if a.disturbance == leftAlone || a.disturbance == "" {
		return false, false
	}
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for run := ""; a.phase != ""; {
		select {
		case <-over:
			return false, false
		case <-tick.C:
		}
		if run == "" {
			run = at.runOf(a.id)
		}
		if run != "" && at.reached(run, a.phase) {
			break
		}
	}
	select {
	case <-over:
		return false, false
	case <-time.After(a.after):
	}
	if sig, ok := signals[a.disturbance]; ok {
		return hit(sig) == nil, false
	}
	return takeBox(at, a)
}

// takeBox kills or removes the box of a task, as an operator could.
func takeBox(at *site, a assignment) (struck, box bool) {
	verb := []string{"kill"}
	if a.disturbance == boxRemoved {
		verb = []string{"rm", "-f"}
	}
	run := at.runOf(a.id)
	if run == "" {
		return false, false
	}
	for _, id := range at.boxes(run) {
		if exec.Command("docker", append(verb, id)...).Run() == nil {
			struck = true
		}
	}
	// Only a run whose commands had not ended by then needed its box.
	return struck, struck && !at.reached(run, "close")
}
