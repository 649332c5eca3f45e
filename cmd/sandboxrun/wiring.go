package main

import (
	"context"
	"errors"
	"path/filepath"

	"sandboxrun/runner"
	"sandboxrun/sandbox/docker"
)

// config reads the user's configuration.
func (p *program) config() (runner.Config, error) { return runner.LoadConfig(p.getenv) }

// state opens the state directory, and makes it the first time.
func (p *program) state() (*runner.State, error) {
	dir, err := runner.StateDir(p.getenv)
	if err != nil {
		return nil, err
	}
	return runner.OpenState(dir)
}

// engine prepares the container engine. Nothing is asked of it yet.
func (p *program) engine() (*docker.Engine, error) {
	st, err := p.state()
	if err != nil {
		return nil, err
	}
	return docker.New(docker.Config{Dir: filepath.Join(st.Dir(), "etc")})
}

// runner puts together what a run needs. With boxes it insists on being able to
// become the main process of one. The returned function gives back what was
// opened.
func (p *program) runner(boxes bool) (*runner.Runner, func(), error) {
	cfg, err := p.config()
	if err != nil {
		return nil, nil, err
	}
	return p.runnerWith(cfg, p.getenv, boxes)
}

func (p *program) runnerWith(cfg runner.Config, getenv func(string) string, boxes bool) (*runner.Runner, func(), error) {
	st, err := p.state()
	if err != nil {
		return nil, nil, err
	}
	var guest string
	if boxes {
		if guest, err = guestBinary(); err != nil {
			return nil, nil, err
		}
	}
	eng, err := p.engine()
	if err != nil {
		return nil, nil, err
	}
	r := runner.New(runner.Options{
		State: st, Config: cfg, Engine: eng, GuestBinary: guest, Getenv: getenv, Version: buildVersion().Version,
	})
	return r, func() { _ = eng.Close() }, nil // only idle connections are left
}

// removeBoxes removes the boxes of one run of this process, whatever it does.
func (p *program) removeBoxes(ctx context.Context, id string) error {
	st, serr := p.state()
	eng, eerr := p.engine()
	if err := errors.Join(serr, eerr); err != nil {
		return err
	}
	defer eng.Close()
	_, err := eng.Reap(ctx, func(owner string) bool { return owner != st.Owner(id) })
	return err
}
