package doctor

import (
	"context"
	"fmt"
	"time"

	"sandboxrun/runner/config"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

// Examination is the object of the checks. The check of a part reports its error; checks that need the part are then
// skipped.
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

// Engine is the part of an engine that the checks use.
type Engine interface {
	sandbox.Engine
	Image(ctx context.Context, ref string) (sandbox.ImageInfo, error)
	Images(ctx context.Context, label string) ([]sandbox.ImageInfo, error)
	Close() error
}

// EngineErr requests the engine's information, the first time, and returns why it did not answer.
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

// checkBound is how long one check of doctor may take.
const checkBound = 60 * time.Second

// Level is the outcome of a check.
type Level string

// The levels.
const (
	LevelPass    Level = "PASS"
	LevelCaution Level = "CAUTION" // works, and something about it should be known
	LevelFail    Level = "FAIL"    // tasks cannot run
)

// Finding is the outcome of one check. Hint says what a person can do, "" for nothing.
type Finding struct {
	Name    string `json:"name"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Pass is a finding that all is well.
func Pass(format string, args ...any) Finding {
	return Finding{Level: LevelPass, Message: fmt.Sprintf(format, args...)}
}

// Caution is a finding that should be known.
func Caution(hint, format string, args ...any) Finding {
	return Finding{Level: LevelCaution, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// Fail is a finding with which tasks cannot run.
func Fail(hint, format string, args ...any) Finding {
	return Finding{Level: LevelFail, Message: fmt.Sprintf(format, args...), Hint: hint}
}
