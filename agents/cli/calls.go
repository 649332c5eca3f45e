package cli

import (
	"encoding/json"
	"maps"
	"slices"

	"sandboxrun/agents"
)

// MaxOpenCalls bounds the calls that are remembered until their result.
const MaxOpenCalls = 1024

// Call is a tool call without a result yet.
type Call struct {
	Action  agents.Action
	Command string // of an ActionCommand
	Denied  bool
}

// Calls joins tool calls with their results. The zero value is ready.
type Calls struct{ open map[string]*Call }

// Begin notes a call; false means that its id cannot be used: it is empty, in
// use, or one too many.
func (c *Calls) Begin(id string, action agents.Action, command string) bool {
	if c.open == nil {
		c.open = map[string]*Call{}
	}
	if c.open[id] != nil || id == "" || len(c.open) >= MaxOpenCalls {
		return false
	}
	c.open[id] = &Call{Action: action, Command: command}
	return true
}

// At is an open call, nil where there is none.
func (c *Calls) At(id string) *Call { return c.open[id] }

// Has says whether a call is open.
func (c *Calls) Has(id string) bool { return c.open[id] != nil }

// Deny marks an open call as denied.
func (c *Calls) Deny(id string) {
	if o := c.open[id]; o != nil {
		o.Denied = true
	}
}

// Count is the number of open calls.
func (c *Calls) Count() int { return len(c.open) }

// Take ends a call and returns what was noted of it.
func (c *Calls) Take(id string) (o Call, known bool) {
	p := c.open[id]
	if p == nil {
		return Call{}, false
	}
	delete(c.open, id)
	return *p, true
}

// unanswered lists the calls without a result, sorted by id.
func (c *Calls) unanswered() []string { return slices.Sorted(maps.Keys(c.open)) }

// Object is b where it is there, and an empty object otherwise: the input of a
// tool call is never null.
func Object(b json.RawMessage) json.RawMessage {
	if len(b) == 0 {
		return json.RawMessage("{}")
	}
	return b
}
