package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"sandboxrun/sandbox"
)

const (
	// inputQueue is how many messages may wait for an agent to read them.
	inputQueue = 256
	// stderrKept is how much of the end of standard error is kept, in bytes.
	stderrKept = 8 << 10
)

// errInputFull says that an agent has stopped reading its standard input.
var errInputFull = errors.New("agent does not read its input")

// process is an agent CLI running in a box, seen as lines of text both ways.
// Its three goroutines have ended when wait returns, and lines is closed before.
type process struct {
	lines  <-chan line
	input  chan []byte
	stderr tail
	cancel context.CancelCauseFunc
	group  sync.WaitGroup

	exit sandbox.Exit // these two are valid after wait
	err  error
}

// startProcess runs argv in box. The process outlives ctx, because ending the
// context of an Exec removes the box and leaves no time to stop gracefully:
// whoever starts a process ends it with kill at the latest.
func startProcess(ctx context.Context, box sandbox.Sandbox, argv, env []string) *process {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	lines := make(chan line)
	p := &process{lines: lines, input: make(chan []byte, inputQueue), cancel: cancel, stderr: tail{max: stderrKept}}
	stdinR, stdinW := io.Pipe()
	stdoutR, stdoutW := io.Pipe()

	p.group.Go(func() {
		p.exit, p.err = box.Exec(ctx, sandbox.Command{Argv: argv, Env: env, Stdin: stdinR, Stdout: stdoutW, Stderr: &p.stderr})
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
		r := newLineReader(stdoutR, maxLine)
		for {
			l, err := r.next()
			if err != nil {
				return // io.EOF: pipes have no other error
			}
			lines <- l
		}
	})
	return p
}

// send queues one message as a line of JSON. It never blocks.
func (p *process) send(message any) error {
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

// closeInput ends the standard input after what was sent. Nothing may be sent
// afterwards, and it may be called once.
func (p *process) closeInput() { close(p.input) }

// kill ends the process by removing its box; wait then returns cause.
func (p *process) kill(cause error) { p.cancel(cause) }

// wait returns how the process ended. Input must be closed and lines drained.
func (p *process) wait() (sandbox.Exit, error) {
	p.group.Wait()
	p.cancel(nil)
	return p.exit, p.err
}
