package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/callers"
	"sandboxrun/cmd/sandboxrun/control"
	"sandboxrun/cmd/sandboxrun/guest"
	"sandboxrun/cmd/sandboxrun/image"
	"sandboxrun/cmd/sandboxrun/prompt"
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/images"
	"sandboxrun/runner"
	"sandboxrun/runner/approval"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	running "sandboxrun/runner/program"
	"sandboxrun/runner/queue"
	"sandboxrun/runner/reader"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox/docker"
)

// config reads the user's configuration.
func (p *program) config() (config.Config, error) { return config.Load(p.getenv) }

// state opens the state directory, and creates it the first time.
func (p *program) state() (*state.State, error) {
	dir, err := config.StateDir(p.getenv)
	if err != nil {
		return nil, err
	}
	return state.Open(dir)
}

// engine prepares the container engine without a request to it.
func (p *program) engine() (*docker.Engine, error) {
	st, err := p.state()
	if err != nil {
		return nil, err
	}
	return docker.New(docker.Config{Dir: filepath.Join(st.Dir(), "etc"), Instance: st.Instance()})
}

func (p *program) imageCommands() *cli.Command {
	return image.Command(image.Host{
		Stdout: p.stdout, Stderr: p.stderr, Getenv: p.getenv, Environ: p.environ, Engine: p.engine, PrintJSON: p.printJSON,
		Interruptible: func(ctx context.Context) (context.Context, func()) { return p.interruptible(ctx, nil) },
	})
}

// runner assembles what a run needs. With boxes it requires that this program can be the main process of one. The
// returned function releases what was opened.
func (p *program) runner(boxes bool) (*runner.Runner, func(), error) {
	cfg, err := p.config()
	if err != nil {
		return nil, nil, err
	}
	return p.runnerWith(cfg, p.getenv, boxes)
}

func (p *program) runnerWith(cfg config.Config, getenv func(string) string, boxes bool) (*runner.Runner, func(), error) {
	st, err := p.state()
	if err != nil {
		return nil, nil, err
	}
	var binary string
	if boxes {
		if binary, err = guest.Running(); err != nil {
			return nil, nil, err
		}
	}
	layout, err := treeLayout(getenv)
	if err != nil {
		return nil, nil, err
	}
	eng, err := p.engine()
	if err != nil {
		return nil, nil, err
	}
	asker, hangUp := approval.Asker(nil), func() {}
	if boxes {
		asker, hangUp = prompt.New(p.stderr, render.TerminalOf(p.stderr, p.getenv), &p.screen)
	}
	r := runner.New(runner.Options{
		Asker: asker, Waiting: func(message string) { p.notef("%s", message) },
		State: st, Config: cfg, Engine: eng, GuestBinary: binary, Reader: reader.Program{Path: running.Running},
		CABundle: images.HostCAPath(getenv), Getenv: getenv, Layout: layout,
		AgentLabel: images.AgentLabel, Version: buildVersion().Version,
	})
	return r, func() {
		hangUp()
		_ = eng.Close() // only idle connections are left
	}, nil
}

// withRunner calls do with a runner but no boxes, until a signal stops it.
func (p *program) withRunner(c *cli.Context, do func(context.Context, *runner.Runner) error) error {
	ctx, stop := p.interruptible(c.Context, nil)
	defer stop()
	r, done, err := p.runner(false)
	if err != nil {
		return err
	}
	defer done()
	return do(ctx, r)
}

// control makes the commands about runs of other processes.
func (p *program) control() control.Commands {
	return control.Commands{Program: (*controlled)(p), Out: p.stdout}
}

// controlled is what these commands need of the program.
type controlled program

func (c *controlled) Service() (*service.Service, func(), error) {
	p := (*program)(c)
	cfg, err := p.config()
	if err != nil {
		return nil, nil, err
	}
	return p.service(cfg, false)
}

// WorkService leaves waiting for a place among the runs to the queue.
func (c *controlled) WorkService() (*service.Service, func(), error) {
	p := (*program)(c)
	cfg, err := p.config()
	if err != nil {
		return nil, nil, err
	}
	cfg.Limits.WaitSeconds = -1
	return p.service(cfg, true)
}

func (p *program) service(cfg config.Config, boxes bool) (*service.Service, func(), error) {
	r, done, err := p.runnerWith(cfg, p.getenv, boxes)
	if err != nil {
		return nil, nil, err
	}
	st, err := p.state()
	if err != nil {
		done()
		return nil, nil, err
	}
	start := func(ctx context.Context, run string) error { return control.StartWorker(ctx, p.environ(), run) }
	return service.New(service.Options{State: st, Config: cfg, Runner: r, Start: start}), done, nil
}

func (c *controlled) StoredRun(ctx *cli.Context) (*state.RunDir, string, error) {
	p := (*program)(c)
	d, err := p.findRun(ctx)
	if err != nil {
		return nil, "", err
	}
	st, err := p.state()
	if err != nil {
		return nil, "", err
	}
	return d, st.KeyDir(), nil
}

func (c *controlled) FindRun(word string) (string, error) {
	st, err := (*program)(c).state()
	if err != nil {
		return "", err
	}
	if e, err := queue.Of(st).Get(strings.ToLower(word)); err == nil {
		return e.RunID, nil
	}
	d, err := st.FindNamed(word)
	if err != nil {
		return "", err
	}
	return d.ID(), nil
}

func (c *controlled) Exit(code int) error { return exitError(code) }
func (c *controlled) Environ() []string   { return c.environ() }

func (c *controlled) Interruptible(ctx context.Context) (context.Context, func()) {
	return (*program)(c).interruptible(ctx, nil)
}
func (c *controlled) PrintJSON(v any) error            { return (*program)(c).printJSON(v) }
func (c *controlled) Notef(format string, args ...any) { (*program)(c).notef(format, args...) }

// callers makes the commands by which other programs use this one.
func (p *program) callers() callers.Commands {
	return callers.Commands{Program: (*called)(p), In: p.stdin, Out: p.stdout, Err: p.stderr}
}

// called is what these commands need of the program.
type called program

func (c *called) Config() (config.Config, error)             { return (*program)(c).config() }
func (c *called) State() (*state.State, error)               { return (*program)(c).state() }
func (c *called) Service() (*service.Service, func(), error) { return (*controlled)(c).Service() }
func (c *called) Getenv(name string) string                  { return c.getenv(name) }
func (c *called) PrintJSON(v any) error                      { return (*program)(c).printJSON(v) }
func (c *called) Version() string                            { return buildVersion().Version }
func (c *called) Interruptible(ctx context.Context) (context.Context, func()) {
	return (*program)(c).interruptible(ctx, nil)
}

// treeLayout is how trees reach boxes when the environment sets it: normally the best layout of the engine is found
// automatically, so this is for diagnosis.
func treeLayout(getenv func(string) string) (workspace.Layout, error) {
	switch l := workspace.Layout(getenv("SANDBOXRUN_LAYOUT")); l {
	case "", workspace.LayoutOverlay, workspace.LayoutCopy:
		return l, nil
	default:
		return "", &document.InputError{Message: fmt.Sprintf("SANDBOXRUN_LAYOUT is %q", string(l)),
			Hint: "use overlay or copy, or leave it unset"}
	}
}

// removeBoxes removes the boxes of one run of this process, whatever state it is in.
func (p *program) removeBoxes(ctx context.Context, id string) error {
	st, serr := p.state()
	eng, eerr := p.engine()
	if err := errors.Join(serr, eerr); err != nil {
		return err
	}
	defer func() { _ = eng.Close() }() // only idle connections are left
	_, err := eng.Reap(ctx, func(owner string) bool { return owner != st.Owner(id) })
	return err
}
