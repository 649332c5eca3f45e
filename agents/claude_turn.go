package agents

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// claudeState is where a turn stands; the doc comment of claude draws them.
type claudeState int

const (
	claudeRunning claudeState = iota
	claudeHeld
	claudeClosing
	claudeStopping
	claudeKilled
)

// errKilled ends a process that did not leave in time, by removing its box.
var errKilled = errors.New("agent did not leave in time")

// maxPause bounds how long a provider may make the CLI wait between two attempts.
const maxPause = 10 * time.Minute

// claudeTurn is one turn of Claude Code. Everything but the approvals happens
// in the goroutine that calls drive.
type claudeTurn struct {
	p         *process
	turn      Turn
	host      Host
	approvals *claudeApprovals
	tools     claudeTools
	end       claudeEnd
	state     claudeState
	stopBy    time.Time     // when a stopped process is killed
	pause     time.Duration // how long the CLI said it waits before its next attempt
	tasks     int           // background tasks that run
	wake      bool          // one of them ended and will wake the model
	began     bool          // init was seen
	open      bool          // standard input
	model     string
	version   string
	session   string
	unknown   int
}

func newClaudeTurn(p *process, t Turn, h Host) *claudeTurn {
	return &claudeTurn{p: p, turn: t, host: h, approvals: newClaudeApprovals(h), session: t.SessionID, open: true}
}

// drive runs the turn until the process has ended and all it said was read.
func (c *claudeTurn) drive(ctx context.Context) {
	defer c.leave()

	c.emit(KindUserMessage, Message{Text: c.turn.Prompt})
	c.send(claudeInitialize())
	c.send(claudePrompt(c.turn.Prompt))

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
		case d := <-c.approvals.decided:
			c.answer(d)
		case <-done:
			done = nil
			c.stop(claudeStop{end: EndInterrupted, code: codeNoResult, message: "stopped: " + context.Cause(ctx).Error(), cause: context.Cause(ctx)})
		case <-clock.C:
			c.expired()
		}
		clock.Reset(c.limit())
	}
}

// leave lets go of everything once the process has ended.
func (c *claudeTurn) leave() {
	c.approvals.close()
	c.closeInput()
	c.end.left = c.tools.count()
	for _, id := range c.tools.unanswered() {
		c.emit(KindToolResult, c.tools.cancel(id))
	}
}

// limit is how long the turn may stay as it is.
func (c *claudeTurn) limit() time.Duration {
	switch {
	case c.state == claudeKilled:
		return math.MaxInt64 // the engine removes the box
	case c.state == claudeStopping:
		return time.Until(c.stopBy)
	case c.state == claudeClosing:
		return lingerGrace
	case c.approvals.pending() > 0:
		return math.MaxInt64 // a person may take any time; ctx ends the wait
	case c.state == claudeHeld && c.tasks == 0 && c.tools.count() == 0:
		return lingerGrace
	default:
		return c.turn.idle() + c.pause
	}
}

// expired acts on a limit that is over.
func (c *claudeTurn) expired() {
	switch {
	case c.state == claudeClosing, c.state == claudeStopping:
		c.kill()
	case c.state == claudeHeld && c.tasks == 0 && c.tools.count() == 0:
		c.finish() // nothing woke the model after all
	default:
		c.stop(claudeStop{end: EndInterrupted, code: codeNoResult, message: fmt.Sprintf("the agent said nothing for %s", c.turn.idle())})
	}
}

// finish closes the turn after a result that counts.
func (c *claudeTurn) finish() {
	c.state = claudeClosing
	c.denyAll()
	c.closeInput()
}

// stop ends the turn before its result: deny what is asked, interrupt, and give
// the CLI a moment to put its session in order. The first reason stays.
func (c *claudeTurn) stop(s claudeStop) {
	if c.end.stop == nil {
		c.end.stop = &s
	}
	if c.state >= claudeStopping {
		return
	}
	closing := c.state == claudeClosing
	c.state, c.stopBy = claudeStopping, time.Now().Add(stopGrace)
	if closing {
		return // it has been told to leave
	}
	c.denyAll()
	c.send(claudeInterrupt())
}

func (c *claudeTurn) kill() {
	c.state = claudeKilled
	c.p.kill(errKilled)
}

func (c *claudeTurn) closeInput() {
	if c.open {
		c.open = false
		c.p.closeInput()
	}
}

// send writes one message to the CLI. One that does not read is ended.
func (c *claudeTurn) send(message any) {
	if !c.open {
		return
	}
	if err := c.p.send(message); err != nil {
		if c.end.stop == nil {
			c.end.stop = &claudeStop{end: EndFailed, code: codeCrashed, message: err.Error()}
		}
		c.kill()
	}
}

func (c *claudeTurn) emit(kind Kind, data any) { c.host.Emit(Event{Kind: kind, Data: data}) }

// strange keeps a frame, or a part of one, that nobody knows.
func (c *claudeTurn) strange(b []byte) {
	c.unknown++
	c.emit(KindRaw, raw(b))
}
