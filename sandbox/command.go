package sandbox

import (
	"io"
	"time"
)

// Command is one process to run in a box; it mirrors os/exec.Cmd. Dir is always
// WorkDir and the user always the box's, so neither can be asked for.
type Command struct {
	Argv []string
	// Env is added to the Spec's Env.
	Env []string
	// Stdin is copied to the process; nil means no input. The copy ends with
	// the process, so Stdin should be unblockable (a pipe the caller closes).
	Stdin io.Reader
	// Stdout and Stderr receive the streams as the engine framed them; nil
	// discards. Writers must not block for ever: a slow one slows the process,
	// and one that fails ends the box, for what it should have got is lost.
	Stdout, Stderr io.Writer
}

// Exit is how a process ended, by the engine's word.
type Exit struct {
	// Code is the exit status, 128+n for a process ended by signal n.
	Code int
	// Duration is wall time from start to the engine's report of the end.
	Duration time.Duration
}
