package agents

import (
	"encoding/json"
	"maps"
	"slices"
)

// maxOpenCalls bounds the calls that are remembered until their result.
const maxOpenCalls = 1024

// call is a tool call without a result yet.
type call struct {
	action  Action
	command string // of an ActionCommand
	denied  bool
}

// calls joins tool calls with their results. The zero value is ready.
type calls struct{ open map[string]*call }

// begin notes a call; false means that its id cannot be used: it is empty, in
// use, or one too many.
func (c *calls) begin(id string, action Action, command string) bool {
	if c.open == nil {
		c.open = map[string]*call{}
	}
	if c.open[id] != nil || id == "" || len(c.open) >= maxOpenCalls {
		return false
	}
	c.open[id] = &call{action: action, command: command}
	return true
}

// has says whether a call is open.
func (c *calls) has(id string) bool { return c.open[id] != nil }

// deny marks an open call as denied.
func (c *calls) deny(id string) {
	if o := c.open[id]; o != nil {
		o.denied = true
	}
}

func (c *calls) count() int { return len(c.open) }

// take ends a call and returns what was noted of it.
func (c *calls) take(id string) (o call, known bool) {
	p := c.open[id]
	if p == nil {
		return call{}, false
	}
	delete(c.open, id)
	return *p, true
}

// unanswered lists the calls without a result, sorted by id.
func (c *calls) unanswered() []string { return slices.Sorted(maps.Keys(c.open)) }

// object is b where it is there, and an empty object otherwise: the input of a
// tool call is never null.
func object(b json.RawMessage) json.RawMessage {
	if len(b) == 0 {
		return json.RawMessage("{}")
	}
	return b
}
