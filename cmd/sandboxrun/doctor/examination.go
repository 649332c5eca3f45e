package doctor

import (
	"context"

	"sandboxrun/runner/config"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

// Examination is what the checks inspect. An error of a part is reported by the
// check of that part; checks that need the part are then not made.
type Examination struct {
	Version   string // of this program
	Getenv    func(string) string
	Config    config.Config
	ConfigErr error
	State     *state.State
	StateErr  error
	Open      func() (Engine, error) // prepares the engine; called once, when a check first needs it

	Engine Engine // the engine that Open returned, nil before

	asked bool
	info  sandbox.Info
	err   error
}

// Engine is what the checks need of an engine.
type Engine interface {
	sandbox.Engine
	Image(ctx context.Context, ref string) (sandbox.ImageInfo, error)
	Close() error
}

// EngineErr asks the engine about itself, the first time, and returns why it
// did not answer.
func (x *Examination) EngineErr(ctx context.Context) error {
	if x.asked {
		return x.err
	}
	x.asked = true
	eng, err := x.Open()
	if err != nil {
		x.err = err
		return err
	}
	x.Engine = eng
	ctx, cancel := context.WithTimeout(ctx, checkBound)
	defer cancel()
	x.info, x.err = x.Engine.Info(ctx)
	return x.err
}

// Close closes the engine's connections.
func (x *Examination) Close() {
	if x.Engine != nil {
		_ = x.Engine.Close() // only idle connections are left
	}
}
