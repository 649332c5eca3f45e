package main

import (
	"context"

	"sandboxrun/runner"
	"sandboxrun/sandbox"
)

// examination is what the checks of doctor look at. Every part is looked up
// once, and what could not be had is an error that the check of it tells.
type examination struct {
	getenv    func(string) string
	config    runner.Config
	configErr error
	state     *runner.State
	stateErr  error
	open      func() (examined, error)

	asked  bool
	engine examined
	info   sandbox.Info
	err    error
}

// examined is what doctor needs of an engine.
type examined interface {
	sandbox.Engine
	Image(ctx context.Context, ref string) (sandbox.ImageInfo, error)
	Close() error
}

// examine prepares an examination of this machine.
func (p *program) examine() *examination {
	x := &examination{getenv: p.getenv, open: func() (examined, error) { return p.engine() }}
	x.config, x.configErr = p.config()
	x.state, x.stateErr = p.state()
	return x
}

// engineErr asks the engine about itself, the first time, and returns why it
// did not answer.
func (x *examination) engineErr(ctx context.Context) error {
	if x.asked {
		return x.err
	}
	x.asked = true
	eng, err := x.open()
	if err != nil {
		x.err = err
		return err
	}
	x.engine = eng
	ctx, cancel := context.WithTimeout(ctx, checkBound)
	defer cancel()
	x.info, x.err = x.engine.Info(ctx)
	return x.err
}

// close gives the engine's connections back.
func (x *examination) close() {
	if x.engine != nil {
		_ = x.engine.Close() // only idle connections are left
	}
}
