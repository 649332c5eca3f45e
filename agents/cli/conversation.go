// Package cli is one turn of an agent's command line on its standard streams: the
// process, its lines, the clock, stops, approvals and open calls, and the limits
// on all of them. An adapter is a Peer of a Conversation and adds its protocol.
package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"sandboxrun/agents"
)

// Bounds of a turn, in time.
const (
	// stopGrace is how long a stopped CLI has to end its turn and leave.
	stopGrace = 2 * time.Second
	// LingerGrace is how long a CLI may take to start over, after a frame that
	// could be its last, when something of its own wakes it.
	LingerGrace = 5 * time.Second
	// MaxPause bounds how long a provider may make the CLI wait between two attempts.
	MaxPause = 10 * time.Minute
)

// errKilled ends a process that did not leave in time, by removing its box.
var errKilled = errors.New("agent did not leave in time")

// Peer is the protocol of one CLI: what it says and how it is answered. All of
// its methods are called in the goroutine of Conversation.Drive.
type Peer interface {
	// Hello sends the handshake, and with it or after its answer the prompt.
	Hello()
	// Line takes one line of the CLI's output.
	Line(ctx context.Context, text []byte)
	// Answer tells the CLI what was decided about a request it asked.
	Answer(q *Asked, d agents.Decision)
	// Interrupt asks the CLI to end the turn. It is sent once.
	Interrupt()
	// Patience is how long the turn may stay as it is, where that is not the
	// idle limit: ok is false for most of the time. overdue is called after it.
	Patience() (limit time.Duration, ok bool)
	Overdue()
}

// Conversation is one turn of a CLI on its standard streams, whatever protocol
// its peer speaks. It is in one of these states:
//
//		running → closing → ended
//		   └────────┴──→ stopping ──→ ended
//
//	  - running: frames arrive, from the handshake on.
//	  - closing: the frame that ends the turn arrived, standard input is closed,
//	    and the process has leaveGrace of silence to leave by itself. One that
//	    does not is ended inside its box, and where that has no effect either,
//	    the box is removed after another leaveGrace.
//	  - stopping: we ended it (ctx, silence, a refused key). Approvals are denied,
//	    an interrupt is sent, the peer calls Finish when the turn's end arrives,
//	    and the box is removed when stopGrace is over.
type Conversation struct {
	Process    *Process // the CLI
	Peer       Peer
	Turn       agents.Turn
	host       agents.Host
	approvals  *approvals
	Calls      Calls
	printed    map[string]string // what a command has printed so far, by call; see Printed
	state      turnState
	stopped    *StopReason   // why we ended the turn; nil when we did not
	stopBy     time.Time     // when a stopped process is killed
	Pause      time.Duration // how long the CLI said it waits before its next attempt
	open       bool          // standard input
	forced     bool          // a CLI that did not leave was ended inside its box
	Unanswered int           // calls without a result when the process ended
	Unknown    int           // frames of an unknown kind
	mail       chan func()   // calls that other goroutines of the peer want made
	ended      chan struct{} // closed when Drive has returned
}

// turnState is the state of a turn; the doc comment of Conversation draws them.
type turnState int

const (
	turnRunning turnState = iota
	turnClosing
	turnStopping
	turnKilled
)

// NewConversation prepares the turn t of the process p; its Peer is still to be set.
func NewConversation(p *Process, t agents.Turn, h agents.Host) *Conversation {
	return &Conversation{
		Process: p, Turn: t, host: h, approvals: newApprovals(h), open: true,
		mail: make(chan func()), ended: make(chan struct{}),
	}
}

// Post runs f in the goroutine of Drive and returns when f has, or when Drive
// is over. It is for peers with readers of their own.
func (c *Conversation) Post(f func()) {
	done := make(chan struct{})
	select {
	case c.mail <- func() { defer close(done); f() }:
		<-done
	case <-c.ended:
	}
}

// Drive runs the turn until the process has ended and its output is read.
func (c *Conversation) Drive(ctx context.Context) {
	defer close(c.ended)
	defer c.leave()

	c.Emit(agents.KindUserMessage, agents.Message{Text: c.Turn.Prompt})
	c.Peer.Hello()
	clock := time.NewTimer(c.limit())
	defer clock.Stop()
	done := ctx.Done()
	for {
		select {
		case l, more := <-c.Process.Lines:
			if !more {
				return
			}
			c.Pause = 0
			c.line(ctx, l)
		case f := <-c.mail:
			c.Pause = 0
			f()
		case q := <-c.approvals.decided:
			if c.approvals.settle(q) {
				c.answer(q, q.Decision)
			}
		case <-done:
			done = nil
			c.Stop(StopReason{End: agents.EndInterrupted, Code: agents.CodeNoResult, Message: "stopped: " + context.Cause(ctx).Error(), cause: context.Cause(ctx)})
		case <-clock.C:
			c.expired()
		}
		clock.Reset(c.limit())
	}
}

func (c *Conversation) line(ctx context.Context, l Line) {
	if l.Dropped > 0 {
		c.Emit(agents.KindTruncated, agents.Truncated{What: "a frame of the agent", Bytes: l.Dropped})
		return
	}
	c.Peer.Line(ctx, l.Text)
}

// limit is how long the turn may stay as it is.
func (c *Conversation) limit() time.Duration {
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
	if d, ok := c.Peer.Patience(); ok {
		return d
	}
	return c.Turn.IdleLimit() + c.Pause
}

// expired acts on a limit that is over.
func (c *Conversation) expired() {
	switch {
	case c.state == turnClosing && !c.forced:
		// Its turn is over and its conversation is written: a box that was removed
		// would take that along.
		c.forced = true
		c.Emit(agents.KindSystemMessage, agents.Message{Text: "the agent did not leave after its turn and was ended"})
		c.Process.endInside()
		return
	case c.state == turnClosing || c.state == turnStopping:
		c.kill()
		return
	}
	if _, ok := c.Peer.Patience(); ok {
		c.Peer.Overdue()
		return
	}
	c.Stop(StopReason{End: agents.EndInterrupted, Code: agents.CodeNoResult, Message: fmt.Sprintf("the agent said nothing for %s", c.Turn.IdleLimit())})
}

// Ask lets the host decide about r. Where the request is refused without asking,
// Ask returns the reason and the peer answers.
func (c *Conversation) Ask(ctx context.Context, key string, r agents.ApprovalRequest) (refused string) {
	return c.approvals.ask(ctx, key, r)
}

// Withdraw drops a request that the CLI no longer waits for: it is not answered.
func (c *Conversation) Withdraw(key string) { c.approvals.withdraw(key) }

// OpenRequest is the open request of a key, nil where there is none.
func (c *Conversation) OpenRequest(key string) *Asked { return c.approvals.open[key] }

// Pending is the number of requests that wait for a decision.
func (c *Conversation) Pending() int { return c.approvals.pending() }

// answer passes a decision on, once.
func (c *Conversation) answer(q *Asked, d agents.Decision) {
	if !d.Allow {
		if d.Reason == "" {
			d.Reason = "denied"
		}
		c.Calls.Deny(q.Request.ToolID)
	}
	c.Peer.Answer(q, d)
}

// CloseInput ends the standard input of the CLI; later messages are dropped.
func (c *Conversation) CloseInput() {
	if c.open {
		c.open = false
		c.Process.CloseInput()
	}
}

// Send writes one message to the CLI. One that does not read is ended.
func (c *Conversation) Send(message any) {
	if !c.open {
		return
	}
	if err := c.Process.send(message); err != nil {
		if c.stopped == nil {
			c.stopped = &StopReason{End: agents.EndFailed, Code: agents.CodeCrashed, Message: err.Error()}
		}
		c.kill()
	}
}

// Emit passes one event on to the host.
func (c *Conversation) Emit(kind agents.Kind, data any) {
	c.host.Emit(agents.Event{Kind: kind, Data: data})
}

// EmitUnknown emits a frame of an unknown kind, or a part of one, as a raw event.
func (c *Conversation) EmitUnknown(b []byte) {
	c.Unknown++
	c.Emit(agents.KindRaw, raw(b))
}
