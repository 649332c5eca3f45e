package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"sandboxrun/sandbox"
)

const (
	// inputQueue is how many messages may wait for an agent to read them.
	inputQueue = 256
	// StderrKept is how much of the end of standard error is kept, in bytes.
	StderrKept = 8 << 10
	// leaveGrace is how long a CLI may take to leave once it was told to. It is
	// long because one that is killed takes its conversation along, and a busy
	// machine makes a Node program of some size slow.
	leaveGrace = 15 * time.Second
)

// errInputFull says that an agent has stopped reading its standard input.
var errInputFull = errors.New("agent does not read its input")

// Process is an agent CLI running in a box, seen as lines of text both ways.
// Its three goroutines have ended when wait returns, and lines is closed before.
type Process struct {
	Lines  <-chan Line
	input  chan []byte
	stderr *Tail
	cancel context.CancelCauseFunc
	force  func() // ends everything that runs in the box, but not the box
	group  sync.WaitGroup

	exit sandbox.Exit // these two are valid after wait
	err  error
}

// Start runs argv in box. The process outlives ctx, because ending the
// context of an Exec removes the box and leaves no time to stop gracefully:
// whoever starts a process ends it with kill at the latest.
func Start(ctx context.Context, box sandbox.Sandbox, argv, env []string) *Process {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	lines := make(chan Line)
	p := &Process{Lines: lines, input: make(chan []byte, inputQueue), cancel: cancel, stderr: NewTail(StderrKept)}
	stdinR, stdinW := io.Pipe()
	stdoutR, stdoutW := io.Pipe()

	p.force = func() {
		ctx, cancel := context.WithTimeout(ctx, leaveGrace)
		defer cancel()
		// What comes of it is seen from the process.
		_, _ = box.Exec(ctx, sandbox.Command{Argv: []string{"sh", "-c", "kill -KILL -1"}, Stdout: io.Discard, Stderr: io.Discard})
	}
	p.group.Go(func() {
		p.exit, p.err = box.Exec(ctx, sandbox.Command{Argv: argv, Env: env, Stdin: stdinR, Stdout: stdoutW, Stderr: p.stderr})
		// Both ends of both pipes come loose here, whatever the box did.
		_ = stdinR.CloseWithError(io.ErrClosedPipe)
		_ = stdoutW.Close()
	})
	p.group.Go(func() {
		for b := range p.input {
			// A process that has ended reads no more; its exit is reported by wait.
			_, _ = stdinW.Write(b)
		}
		_ = stdinW.Close()
	})
	p.group.Go(func() {
		defer close(lines)
		r := NewLineReader(stdoutR, MaxLine)
		for {
			l, err := r.Next()
			if err != nil {
				return // io.EOF: pipes have no other error
			}
			lines <- l
		}
	})
	return p
}

// send queues one message as a line of JSON. It never blocks.
func (p *Process) send(message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	select {
	case p.input <- append(b, '\n'):
		return nil
	default:
		return errInputFull
	}
}

// CloseInput ends the standard input after what was sent. Nothing may be sent
// afterwards, and it may be called once.
func (p *Process) CloseInput() { close(p.input) }

// Stderr is the end of what the process has written to standard error.
func (p *Process) Stderr() string { return p.stderr.String() }

// endInside ends every process of the box but its first, which is not the CLI:
// what the CLI has written stays readable.
func (p *Process) endInside() { p.group.Go(p.force) }

// Kill ends the process by removing its box; wait then returns cause.
func (p *Process) Kill(cause error) { p.cancel(cause) }

// Wait returns how the process ended. Input must be closed and lines drained.
func (p *Process) Wait() (sandbox.Exit, error) {
	p.group.Wait()
	p.cancel(nil)
	return p.exit, p.err
}
