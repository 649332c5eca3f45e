package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	_ "sandboxrun/agents/all" // as the program has them
	"sandboxrun/runner"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/reader"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox/docker"
)

// inProcess is a runner in this very process, which lives as long as the soak does: memory it keeps for each task shows
// in the process.
type inProcess struct {
	site   *site
	engine *docker.Engine
	runner *runner.Runner
	config config.Config
}

func newInProcess(s *site) (*inProcess, error) {
	env := map[string]string{}
	for _, v := range s.env() {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	getenv := func(name string) string { return env[name] }
	config, err := config.Load(getenv)
	if err != nil {
		return nil, err
	}
	state, err := state.Open(s.state)
	if err != nil {
		return nil, err
	}
	engine, err := docker.New(docker.Config{Dir: filepath.Join(s.state, "etc"), Instance: state.Instance()})
	if err != nil {
		return nil, err
	}
	return &inProcess{site: s, engine: engine, config: config, runner: runner.New(runner.Options{
		State: state, Config: config, Engine: engine, GuestBinary: s.program, Reader: reader.Program{Path: s.program}, Getenv: getenv, Version: "soak",
	})}, nil
}

func (i *inProcess) close() { _ = i.engine.Close() } // only idle connections are left

// perform does one task, and disturbs it.
func (i *inProcess) perform(ctx context.Context, a assignment, r *repo) (ending, error) {
	doc, err := json.Marshal(a.kind.task(a, r))
	if err != nil {
		return ending{}, err
	}
	task, err := document.Decode(doc)
	if err != nil {
		return ending{}, err
	}
	plan, err := plan.Compile(task, i.config, plan.Overrides{})
	if err != nil {
		return ending{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	var e ending
	var wg sync.WaitGroup
	wg.Go(func() {
		e.struck, e.box = strike(i.site, a, over, func(sig syscall.Signal) error {
			cancel(document.Interrupted{Signal: sig})
			return nil
		})
	})
	res, err := i.runner.Execute(ctx, plan, nil)
	close(over)
	wg.Wait()
	if stop := (document.Interrupted{}); err != nil && errors.As(context.Cause(ctx), &stop) {
		e.exit, e.stderr = 128+int(stop.Signal), err.Error() // nothing had been created
		return e, nil
	}
	if err != nil {
		return ending{}, err
	}
	e.exit, e.result = document.ExitCode(res, context.Cause(ctx)), res
	return e, nil
}
