package droid

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// Bounds of messages that have not arrived as a whole.
const (
	maxParts = 64
	maxPart  = cli.MaxLine // bytes of all of them
)

// delta keeps a piece of a message, for a turn that ends before the whole.
func (c *peer) delta(n notification) {
	p := c.text[n.MessageID]
	if p == nil {
		if len(c.text) >= maxParts {
			return
		}
		p = &messagePart{order: len(c.text)}
		c.text[n.MessageID] = p
	}
	if c.part+len(n.TextDelta) <= maxPart {
		c.part += len(n.TextDelta)
		p.text.WriteString(n.TextDelta)
	}
}

// retract forgets a message that is not said, or that has arrived.
func (c *peer) retract(id string) {
	if p := c.text[id]; p != nil {
		c.part -= p.text.Len()
		delete(c.text, id)
	}
}

// unfinished says what there is of messages that never arrived as a whole.
func (c *peer) unfinished() {
	parts := slices.SortedFunc(maps.Values(c.text), func(a, b *messagePart) int { return a.order - b.order })
	for _, p := range parts {
		if p.text.Len() > 0 {
			c.Emit(agents.KindAssistantMessage, agents.Message{Text: p.text.String()})
		}
	}
	clear(c.text)
	c.part = 0
}

// message handles a message as a whole.
func (c *peer) message(n notification, text []byte) {
	var m struct {
		ID      string            `json:"id"`
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	if err := cli.Decode(n.Message, &m); err != nil {
		c.EmitUnknown(text)
		return
	}
	switch m.Role {
	case "assistant":
		c.retract(m.ID)
		c.assistant(m.Content)
	case "user":
		// Our prompts, what the CLI adds to them, and results that come by themselves.
	case "system":
		c.system(m.ID, m.Content)
	default:
		c.EmitUnknown(text)
	}
}

// assistant handles an answer of the model.
func (c *peer) assistant(content []json.RawMessage) {
	c.answered()
	var said strings.Builder
	for _, r := range content {
		var b block
		if cli.Decode(r, &b) != nil {
			c.EmitUnknown(r)
			continue
		}
		switch {
		case b.Type == "text" && b.Text != "":
			c.Emit(agents.KindAssistantMessage, agents.Message{Text: b.Text})
			said.WriteString(b.Text)
		case b.Type == "thinking" && b.Thinking != "":
			c.Emit(agents.KindThinking, agents.Message{Text: b.Thinking})
		case b.Type == "text", b.Type == "thinking", b.Type == "redacted_thinking":
			// Nothing to read.
		case b.Type == "tool_use" && c.beginCall(b.callMethod):
		default:
			c.EmitUnknown(r)
		}
	}
	if said.Len() > 0 {
		c.end.claim = cli.Head(said.String(), cli.MaxWords)
	}
}

// answered notes that the provider works and the model goes on.
func (c *peer) answered() {
	c.retries, c.retryBy = 0, time.Time{}
	c.held, c.denials = false, nil // what was denied it has heard
	c.end.turns++
}

// reportPrefix starts the id of the message that brings a subagent's report.
const reportPrefix = "task-completion:"

// system handles what the CLI tells the model of itself.
func (c *peer) system(id string, content []json.RawMessage) {
	for _, r := range content {
		var b block
		if cli.Decode(r, &b) != nil || b.Type != "text" {
			c.EmitUnknown(r)
			continue
		}
		c.Emit(agents.KindSystemMessage, agents.Message{Text: b.Text})
		if strings.HasPrefix(id, reportPrefix) {
			for child := range c.children {
				if strings.Contains(b.Text, child) {
					delete(c.children, child)
				}
			}
		}
	}
}

// maxChildren bounds the subagents that are waited for.
const maxChildren = 64

// child notes a subagent, which may outlast the turn.
func (c *peer) child(id string) {
	if validID(id) && len(c.children) < maxChildren {
		c.children[id] = true
	}
}
