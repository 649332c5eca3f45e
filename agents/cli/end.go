package cli

import (
	"errors"
	"fmt"
	"time"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
)

// MaxWords bounds what an outcome quotes of the agent, in bytes.
const MaxWords = 64 << 10

// StopReason is a reason of ours to end a turn.
type StopReason struct {
	End     agents.End
	Code    string
	Message string
	cause   error // of the context, when that ended
}

// leave releases everything once the process has ended.
func (c *Conversation) leave() {
	c.approvals.close()
	c.CloseInput()
	c.Unanswered = c.Calls.Count()
	for _, id := range c.Calls.unanswered() {
		c.cancelCall(id)
	}
}

// cancelCall gives a call the result of a turn that ended before it did.
func (c *Conversation) cancelCall(id string) {
	if o, ok := c.Calls.Take(id); ok {
		c.Emit(agents.KindToolResult, agents.ToolResult{ID: id, Status: agents.StatusCancelled, Command: o.Command})
	}
}

// Finish closes the turn after the frame that ends it.
func (c *Conversation) Finish() {
	if c.state == turnRunning {
		c.state = turnClosing
	}
	c.denyAll()
	c.CloseInput()
}

// Stop ends the turn before its end: deny what is asked, interrupt, and give
// the CLI a moment to put its session in order. The first reason stays.
func (c *Conversation) Stop(s StopReason) {
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
	c.Peer.Interrupt()
}

// denyAll closes the approvals: every open request is denied, whatever was decided meanwhile.
func (c *Conversation) denyAll() {
	for _, q := range c.approvals.close() {
		if c.approvals.settle(q) {
			c.answer(q, agents.Decision{Reason: "the turn is being stopped"})
		}
	}
}

func (c *Conversation) kill() {
	c.state = turnKilled
	c.Process.Kill(errKilled)
}

// Judge judges a turn whose process has ended with exit, or with err, as far
// as that can be done without knowing the protocol: true means that the end was
// ours, or the box's, and o says so.
func (c *Conversation) Judge(o *agents.Outcome, err error) bool {
	o.Unknown = c.Unknown
	switch {
	case c.stopped != nil:
		o.End, o.Code, o.Message = c.stopped.End, c.stopped.Code, c.stopped.Message
	case err != nil && !errors.Is(err, errKilled):
		o.End, o.Code, o.Message = agents.EndInterrupted, agents.CodeNoResult, err.Error()
	default:
		return false
	}
	return true
}

// NoEnd judges a process that left without the frame that ends a turn.
func NoEnd(o *agents.Outcome, exit sandbox.Exit, stderr string) {
	o.End, o.Code, o.Message = agents.EndFailed, agents.CodeNoResult, "the agent left without a result"
	if exit.Code != 0 {
		o.Code, o.Message = agents.CodeCrashed, fmt.Sprintf("the agent ended with exit code %d and without a result", exit.Code)
	}
	if stderr != "" {
		o.Message += ": " + stderr
	}
	o.Message = Head(o.Message, MaxWords)
}

// Err is the error of a turn that could not be driven to an end, nil for
// one that was: the context's cause, or what the box said.
func (c *Conversation) Err(binary string, err error) error {
	switch {
	case c.stopped != nil && c.stopped.cause != nil:
		return c.stopped.cause
	case err != nil && !errors.Is(err, errKilled):
		return fmt.Errorf("run %s: %w", binary, err)
	}
	return nil
}

// Running reports that the turn has neither ended nor been stopped.
func (c *Conversation) Running() bool { return c.state == turnRunning }

// Closing reports that the frame that ends the turn has arrived.
func (c *Conversation) Closing() bool { return c.state == turnClosing }

// Stopping reports that the runner has stopped the turn.
func (c *Conversation) Stopping() bool { return c.state >= turnStopping }

// Killed reports that the box of the process is being removed.
func (c *Conversation) Killed() bool { return c.state == turnKilled }
