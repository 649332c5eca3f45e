package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/schemas/closed"
)

// Run makes a batch of attacks against the program, in one box if there are several, and judges them. The error comes from the
// lab, not of the program.
func (l *Lab) Run(ctx context.Context, batch []Attack) ([]Outcome, error) {
	return l.Play(ctx, batch, Where{Runtime: l.Runtime}, l.execute)
}

// execute makes a batch's attacks through the program.
func (l *Lab) execute(ctx context.Context, st *Stage) error {
	config := filepath.Join(st.Dir, "config.json")
	cfg, err := json.Marshal(st.Host.Config)
	if err != nil {
		return err
	}
	if err := os.WriteFile(config, cfg, 0o600); err != nil {
		return err
	}
	env := append(append([]string{}, l.Env...), "HOME="+st.Host.Home, "SANDBOXRUN_STATE_DIR="+st.Host.State,
		"SANDBOXRUN_CONFIG="+config, KeyVariable+"="+Key)
	env = append(env, st.Host.Env...)

	doc, err := json.Marshal(l.inImage(st.Task()))
	if err != nil {
		return err
	}
	args := []string{"execute", "--quiet"}
	if l.Runtime != "" {
		args = append(args, "--runtime", l.Runtime)
	}
	began := time.Now()
	stop := st.Meanwhile(ctx)
	run, hung, err := l.invoke(ctx, env, doc, append(append(args, st.Host.Flags...), "-")...)
	stop()
	if err != nil {
		return err
	}
	s := &st.Scene
	s.Took, s.Hung, s.Exit, s.Stdout, s.Stderr = time.Since(began), hung, run.Exit, run.Stdout, run.Stderr
	if hung {
		return l.settle(ctx, env, st)
	}
	if err := json.Unmarshal(run.Stdout, &s.Result); err != nil {
		return fmt.Errorf("the program's document (exit %d): %w: %.300s %.1000s", run.Exit, err, run.Stdout, run.Stderr)
	}
	if s.Result.RunID == "" {
		return st.refused()
	}
	if err := l.more(ctx, env, st); err != nil {
		return err
	}
	return l.gather(ctx, st)
}

// more makes the additional invocations of a batch.
func (l *Lab) more(ctx context.Context, env []string, st *Stage) error {
	s := &st.Scene
	for _, a := range st.Attacks {
		for _, args := range a.After {
			args = slices.Clone(args)
			if i := slices.Index(args, "RUN"); i >= 0 {
				args[i] = s.Result.RunID
			}
			done, hung, err := l.invoke(ctx, env, nil, args...)
			if err != nil {
				return err
			}
			s.Hung = s.Hung || hung
			s.After = append(s.After, done)
		}
	}
	return nil
}

// inImage names the lab's image in a task that names none.
func (l *Lab) inImage(task map[string]any) map[string]any {
	box, _ := task["box"].(map[string]any)
	if box == nil {
		box = map[string]any{}
	}
	if _, ok := box["image"]; !ok && l.Image != "" {
		box["image"] = l.Image
		task["box"] = box
	}
	return task
}

// refused measures a scene in which the program ran nothing.
func (st *Stage) refused() error {
	s := &st.Scene
	var doc struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(s.Stdout, &doc); err != nil {
		return fmt.Errorf("the program's error document: %w", err)
	}
	if err := closed.Validate("error", s.Stdout); err != nil {
		s.Faults = append(s.Faults, "neither a result nor an error document: "+err.Error())
	}
	s.Refused = doc.Error.Message
	return nil
}

// Task is the task of a batch.
func (st *Stage) Task() map[string]any {
	commands := make([]string, 0, len(st.Attacks))
	for _, a := range st.Attacks {
		commands = append(commands, st.Script(a))
	}
	task := map[string]any{
		"objective": "Do what the commands say.", "context": map[string]any{"repo_root": st.Host.Repo},
		"execution_mode": "command", "suggested_commands": commands, "max_runtime_seconds": 120,
	}
	for _, a := range st.Attacks {
		if a.Task != nil {
			a.Task(task)
		}
	}
	return task
}

// settleBound is how long the program may take to remove its box after SIGTERM.
const settleBound = 30 * time.Second

// invoke runs the program and waits for its end, for at most the lab's bound.
func (l *Lab) invoke(ctx context.Context, env []string, stdin []byte, args ...string) (inv Invocation, hung bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, l.Bound)
	defer cancel()
	out, errs := Output{}, Output{}
	c := Command(bounded, l.Program, args...)
	c.Env, c.Stdin, c.Stdout, c.Stderr = env, bytes.NewReader(stdin), &out, &errs
	// SIGTERM first: killed at once, the program would leave its box behind.
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = settleBound
	err = c.Run()
	hung = bounded.Err() != nil && ctx.Err() == nil
	if exit := new(exec.ExitError); hung || errors.As(err, &exit) {
		err = nil
	}
	if c.ProcessState == nil && err == nil {
		err = errors.New("the program did not start in time")
	}
	if err != nil {
		return Invocation{}, hung, fmt.Errorf("%s %s: %w", l.Program, args[0], err)
	}
	return Invocation{args, c.ProcessState.ExitCode(), out.Bytes(), errs.Bytes()}, hung, nil
}

// settle reaps what a killed program left.
func (l *Lab) settle(ctx context.Context, env []string, st *Stage) error {
	if _, _, err := l.invoke(ctx, env, nil, "reap"); err != nil {
		return err
	}
	st.Scene.Then, st.Scene.Hits = st.Scene.Before, nil
	return nil
}

// gather collects the outputs and the effects of the run.
func (l *Lab) gather(ctx context.Context, st *Stage) (err error) {
	s, logs := &st.Scene, filepath.Join(st.Host.State, "runs", st.Scene.Result.RunID, "logs")
	for i := range st.Attacks {
		var both strings.Builder
		for _, stream := range []string{"stdout", "stderr"} {
			text, err := ReadCapped(filepath.Join(logs, fmt.Sprintf("%03d-agent.%s.log", i+1+setups(s.Result), stream)))
			if err != nil && !errors.Is(err, os.ErrNotExist) { // a run that ended before has none
				return err
			}
			both.WriteString(text)
		}
		st.Outputs = append(st.Outputs, both.String())
	}
	if s.Result.Git.Patch != "" {
		if s.Patch, err = ReadCapped(s.Result.Git.Patch); err != nil {
			return err
		}
	}
	if err := st.ReadLanded(ctx, st.Host.Repo, s.Result.Git.Commit); err != nil {
		return err
	}
	s.Faults = inspect(ctx, s)
	return nil
}

// setups counts the commands that ran before the batch's own.
func setups(r document.Result) int {
	n := 0
	for _, c := range r.CommandsRun {
		if c.Phase == "agent" {
			break
		}
		n++
	}
	return n
}

// ReadCapped reads the beginning of a file, up to the cap for judging.
func ReadCapped(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, contentCap))
	return string(text), err
}

// ReadLanded reads a landed commit of a repository, unless it is "", and checks it with git.
func (st *Stage) ReadLanded(ctx context.Context, dir, commit string, flags ...string) error {
	s := &st.Scene
	judgeLanded(ctx, s, dir, commit, flags...)
	if commit == "" {
		return nil
	}
	text, err := Git(ctx, dir, append(slices.Clone(flags), "cat-file", "commit", commit)...)
	if err != nil {
		return err
	}
	s.Commit = text
	s.Landed, err = readTree(ctx, dir, commit, flags...)
	return err
}
