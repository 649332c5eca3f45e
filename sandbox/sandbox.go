// Package sandbox defines what a throwaway box is: the interfaces every engine implements and the plain data that
// describes a box. Besides the standard library it imports only the names of steps (internal/step); engines live in
// packages below it.
package sandbox

import (
	"context"
	"io"
	"time"

	"sandboxrun/internal/step"
)

// Engine opens boxes and removes what crashed runners left behind.
type Engine interface {
	// Open creates and starts a box. When it returns an error, nothing of the box is left, unless the error wraps a
	// *LeftError. Errors are *UnavailableError, *EngineError, *ImageError, *PolicyError or ErrOverlayUnsupported.
	Open(ctx context.Context, s Spec) (Sandbox, error)

	// Reap removes every box and volume that carries this program's label and whose owner is dead according to alive.
	// It returns the names of what it removed, also when it returns an error.
	Reap(ctx context.Context, alive func(owner string) bool) (removed []string, err error)

	// Info describes the engine without creating anything: results and doctor name the engine they relied on.
	Info(ctx context.Context) (Info, error)
}

// Sandbox is one running box.
type Sandbox interface {
	// Exec runs one process in the box and waits for its end. When ctx ends first, the whole box is removed (an engine
	// cannot kill an exec) and the error is context.Cause(ctx). When the box hits a limit, it is removed and the error
	// is a *LimitError. An Exit is only returned with a nil error, and only when the engine reports that the process
	// has ended.
	Exec(ctx context.Context, c Command) (Exit, error)

	// Stdio is the standard input and output of the box's main process, the
	// guest. It carries the egress tunnel. Closing it ends the guest and so
	// the box. Reads return io.EOF when the box is gone.
	Stdio() io.ReadWriteCloser

	// Close removes the box with everything in it and returns when the engine
	// confirms that nothing of it exists any more. It is idempotent and safe
	// to call while Exec runs; that Exec returns ErrClosed.
	Close(ctx context.Context) error
}

// Command is one process to run in a box; it mirrors os/exec.Cmd. It starts in WorkDir as the box's user; neither can
// be chosen.
type Command struct {
	Argv []string
	// Env is added to the Spec's Env.
	Env []string
	// Stdin is copied to the process; nil means no input. The copy ends with the process, so a blocked read of Stdin
	// must be interruptible (a pipe the caller closes).
	Stdin io.Reader
	// Stdout and Stderr receive the streams as the engine framed them; nil discards. Writers must not block for ever:
	// a slow one slows the process. A failing one ends the box, because its output is lost.
	Stdout, Stderr io.Writer
}

// Exit is how a process ended, as the engine reports it.
type Exit struct {
	// Code is the exit status, 128+n for a process ended by signal n.
	Code int
	// Duration is wall time from start to the engine's report of the end.
	Duration time.Duration
}

// Steps of making and removing a box. [Spec.Journal] records StepVolume and StepCreate; their subject is the name of
// the volume or of the container.
var (
	StepVolume       = step.Define("box/volume")
	StepCreate       = step.Define("box/create")
	StepAttach       = step.Define("box/attach")
	StepStart        = step.Define("box/start")
	StepRemove       = step.Define("box/remove")
	StepRemoveVolume = step.Define("box/unvolume")
)
