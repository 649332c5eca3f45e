package agents

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"sandboxrun/sandbox"
)

// Bounds of a turn, in time.
const (
	// stopGrace is how long a stopped CLI has to end its turn and leave.
	stopGrace = 2 * time.Second
	// leaveGrace is how long a CLI may take to leave once it was told to. It is
	// long because one that is killed takes its conversation along, and a busy
	// machine makes a Node program of some size slow.
	leaveGrace = 15 * time.Second
	// lingerGrace is how long a CLI may take to start over, after a frame that
	// could be its last, when something of its own wakes it.
	lingerGrace = 5 * time.Second
	// maxPause bounds how long a provider may make the CLI wait between two attempts.
	maxPause = 10 * time.Minute
)

// errKilled ends a process that did not leave in time, by removing its box.
var errKilled = errors.New("agent did not leave in time")

// peer is the protocol of one CLI: what it says and how it is answered. All of
// its methods are called in the goroutine of conversation.drive.
type peer interface {
	// hello sends the handshake, and with it or after its answer the prompt.
	hello()
	// line takes one line of the CLI's output.
	line(ctx context.Context, text []byte)
	// answer tells the CLI what was decided about a request it asked.
	answer(q *asked, d Decision)
	// interrupt asks the CLI to end the turn. It is sent once.
	interrupt()
	// patience is how long the turn may stay as it is, where that is not the
	// idle limit: ok is false for most of the time. overdue is called after it.
	patience() (limit time.Duration, ok bool)
	overdue()
}

// conversation is one turn of a CLI on its standard streams, whatever protocol
// its peer speaks. It is in one of these states:
//
//		running → closing → ended
//		   └────────┴──→ stopping ──→ ended
//
//	  - running: frames arrive, from the handshake on.
//	  - closing: the frame that ends the turn arrived, standard input is closed,
//	    and the process has leaveGrace of silence to leave by itself.
//	  - stopping: we ended it (ctx, silence, a refused key). Approvals are denied,
//	    an interrupt is sent, the peer calls finish when the turn's end arrives,
//	    and the box is removed when stopGrace is over.
type conversation struct {
	p         *process
	peer      peer
	turn      Turn
	host      Host
	approvals *approvals
	calls     calls
	state     turnState
	stopped   *stop         // why we ended the turn; nil when we did not
	stopBy    time.Time     // when a stopped process is killed
	pause     time.Duration // how long the CLI said it waits before its next attempt
	open      bool          // standard input
	left      int           // calls without a result when the process ended
	unknown   int           // frames nobody knows
	mail      chan func()   // what other goroutines of the peer have to say
	ended     chan struct{} // closed when drive has returned
}

// turnState is where a turn stands; the doc comment of conversation draws them.
type turnState int

const (
	turnRunning turnState = iota
	turnClosing
	turnStopping
	turnKilled
)

// stop is a reason of ours to end a turn.
type stop struct {
	end     End
	code    string
	message string
	cause   error // of the context, when that ended
}

func newConversation(p *process, t Turn, h Host) *conversation {
	return &conversation{
		p: p, turn: t, host: h, approvals: newApprovals(h), open: true,
		mail: make(chan func()), ended: make(chan struct{}),
	}
}

// post lets f run in the goroutine of drive and returns when it has, or when
// drive is over. It is for peers with readers of their own.
func (c *conversation) post(f func()) {
	done := make(chan struct{})
	select {
	case c.mail <- func() { defer close(done); f() }:
		<-done
	case <-c.ended:
	}
}

// drive runs the turn until the process has ended and all it said was read.
func (c *conversation) drive(ctx context.Context) {
	defer close(c.ended)
	defer c.leave()

	c.emit(KindUserMessage, Message{Text: c.turn.Prompt})
	c.peer.hello()
	clock := time.NewTimer(c.limit())
	defer clock.Stop()
	done := ctx.Done()
	for {
		select {
		case l, more := <-c.p.lines:
			if !more {
				return
			}
			c.pause = 0
			c.line(ctx, l)
		case f := <-c.mail:
			c.pause = 0
			f()
		case q := <-c.approvals.decided:
			if c.approvals.settle(q) {
				c.answer(q, q.decision)
			}
		case <-done:
			done = nil
			c.stop(stop{end: EndInterrupted, code: codeNoResult, message: "stopped: " + context.Cause(ctx).Error(), cause: context.Cause(ctx)})
		case <-clock.C:
			c.expired()
		}
		clock.Reset(c.limit())
	}
}

func (c *conversation) line(ctx context.Context, l line) {
	if l.dropped > 0 {
		c.emit(KindTruncated, Truncated{What: "a frame of the agent", Bytes: l.dropped})
		return
	}
	c.peer.line(ctx, l.text)
}

// leave lets go of everything once the process has ended.
func (c *conversation) leave() {
	c.approvals.close()
	c.closeInput()
	c.left = c.calls.count()
	for _, id := range c.calls.unanswered() {
		c.cancelCall(id)
	}
}

// cancelCall gives a call the result of a turn that ended before it did.
func (c *conversation) cancelCall(id string) {
	if o, ok := c.calls.take(id); ok {
		c.emit(KindToolResult, ToolResult{ID: id, Status: StatusCancelled, Command: o.command})
	}
}

// limit is how long the turn may stay as it is.
func (c *conversation) limit() time.Duration {
	switch c.state {
	case turnKilled:
		return math.MaxInt64 // the engine removes the box
	case turnStopping:
		return time.Until(c.stopBy)
	case turnClosing:
		return leaveGrace
	case turnRunning:
	}
	if c.approvals.pending() > 0 {
		return math.MaxInt64 // a person may take any time; the host's deadline and ctx end the wait
	}
	if d, ok := c.peer.patience(); ok {
		return d
	}
	return c.turn.idle() + c.pause
}

// expired acts on a limit that is over.
func (c *conversation) expired() {
	if c.state == turnClosing || c.state == turnStopping {
		c.kill()
		return
	}
	if _, ok := c.peer.patience(); ok {
		c.peer.overdue()
		return
	}
	c.stop(stop{end: EndInterrupted, code: codeNoResult, message: fmt.Sprintf("the agent said nothing for %s", c.turn.idle())})
}

// ask lets the host decide about r, unless it was refused out of hand: then the
// reason comes back and the peer answers.
func (c *conversation) ask(ctx context.Context, key string, r ApprovalRequest) (refused string) {
	return c.approvals.ask(ctx, key, r)
}

// answer passes a decision on, once.
func (c *conversation) answer(q *asked, d Decision) {
	if !d.Allow {
		if d.Reason == "" {
			d.Reason = "denied"
		}
		c.calls.deny(q.request.ToolID)
	}
	c.peer.answer(q, d)
}

// finish closes the turn after the frame that ends it.
func (c *conversation) finish() {
	if c.state == turnRunning {
		c.state = turnClosing
	}
	c.denyAll()
	c.closeInput()
}

// stop ends the turn before its end: deny what is asked, interrupt, and give
// the CLI a moment to put its session in order. The first reason stays.
func (c *conversation) stop(s stop) {
	if c.stopped == nil {
		c.stopped = &s
	}
	if c.state >= turnStopping {
		return
	}
	closing := c.state == turnClosing
	c.state, c.stopBy = turnStopping, time.Now().Add(stopGrace)
	if closing {
		return // it has been told to leave
	}
	c.denyAll()
	c.peer.interrupt()
}

// stopping says that we have ended the turn.
func (c *conversation) stopping() bool { return c.state >= turnStopping }

// denyAll ends asking: what is open is denied, whatever was decided meanwhile.
func (c *conversation) denyAll() {
	for _, q := range c.approvals.close() {
		if c.approvals.settle(q) {
			c.answer(q, Decision{Reason: "the turn is being stopped"})
		}
	}
}

func (c *conversation) kill() {
	c.state = turnKilled
	c.p.kill(errKilled)
}

func (c *conversation) closeInput() {
	if c.open {
		c.open = false
		c.p.closeInput()
	}
}

// send writes one message to the CLI. One that does not read is ended.
func (c *conversation) send(message any) {
	if !c.open {
		return
	}
	if err := c.p.send(message); err != nil {
		if c.stopped == nil {
			c.stopped = &stop{end: EndFailed, code: codeCrashed, message: err.Error()}
		}
		c.kill()
	}
}

func (c *conversation) emit(kind Kind, data any) { c.host.Emit(Event{Kind: kind, Data: data}) }

// strange keeps a frame, or a part of one, that nobody knows.
func (c *conversation) strange(b []byte) {
	c.unknown++
	c.emit(KindRaw, raw(b))
}

// outcome judges a turn whose process has ended with exit, or with err, as far
// as that can be done without knowing the protocol: true means that the end was
// ours, or the box's, and o says so.
func (c *conversation) outcome(o *Outcome, err error) bool {
	o.Unknown = c.unknown
	switch {
	case c.stopped != nil:
		o.End, o.Code, o.Message = c.stopped.end, c.stopped.code, c.stopped.message
	case err != nil && !errors.Is(err, errKilled):
		o.End, o.Code, o.Message = EndInterrupted, codeNoResult, err.Error()
	default:
		return false
	}
	return true
}

// noEnd judges a process that left without the frame that ends a turn.
func (o *Outcome) noEnd(exit sandbox.Exit, stderr string) {
	o.End, o.Code, o.Message = EndFailed, codeNoResult, "the agent left without a result"
	if exit.Code != 0 {
		o.Code, o.Message = codeCrashed, fmt.Sprintf("the agent ended with exit code %d and without a result", exit.Code)
	}
	if stderr != "" {
		o.Message += ": " + stderr
	}
	o.Message = head(o.Message, maxWords)
}

// failure is the error of a turn that could not be driven to an end, nil for
// one that was: the context's cause, or what the box said.
func (c *conversation) failure(binary string, err error) error {
	switch {
	case c.stopped != nil && c.stopped.cause != nil:
		return c.stopped.cause
	case err != nil && !errors.Is(err, errKilled):
		return fmt.Errorf("run %s: %w", binary, err)
	}
	return nil
}
