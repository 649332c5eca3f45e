package agents

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// Bounds of messages that have not arrived as a whole.
const (
	droidMaxParts = 64
	droidMaxPart  = maxLine // bytes of all of them
)

// droidPart is the text of a message so far.
type droidPart struct {
	order int
	text  strings.Builder
}

// delta keeps a piece of a message, for a turn that ends before the whole.
func (c *droidTurn) delta(n droidNote) {
	p := c.text[n.MessageID]
	if p == nil {
		if len(c.text) >= droidMaxParts {
			return
		}
		p = &droidPart{order: len(c.text)}
		c.text[n.MessageID] = p
	}
	if c.part+len(n.TextDelta) <= droidMaxPart {
		c.part += len(n.TextDelta)
		p.text.WriteString(n.TextDelta)
	}
}

// retract forgets a message that is not said, or that has arrived.
func (c *droidTurn) retract(id string) {
	if p := c.text[id]; p != nil {
		c.part -= p.text.Len()
		delete(c.text, id)
	}
}

// unfinished says what there is of messages that never arrived as a whole.
func (c *droidTurn) unfinished() {
	parts := slices.SortedFunc(maps.Values(c.text), func(a, b *droidPart) int { return a.order - b.order })
	for _, p := range parts {
		if p.text.Len() > 0 {
			c.emit(KindAssistantMessage, Message{Text: p.text.String()})
		}
	}
	clear(c.text)
	c.part = 0
}

// message handles a message as a whole.
func (c *droidTurn) message(n droidNote, text []byte) {
	var m struct {
		ID      string            `json:"id"`
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	if err := decode(n.Message, &m); err != nil {
		c.strange(text)
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
		c.strange(text)
	}
}

// assistant handles an answer of the model.
func (c *droidTurn) assistant(content []json.RawMessage) {
	c.answered()
	var said strings.Builder
	for _, r := range content {
		var b droidBlock
		if decode(r, &b) != nil {
			c.strange(r)
			continue
		}
		switch {
		case b.Type == "text" && b.Text != "":
			c.emit(KindAssistantMessage, Message{Text: b.Text})
			said.WriteString(b.Text)
		case b.Type == "thinking" && b.Thinking != "":
			c.emit(KindThinking, Message{Text: b.Thinking})
		case b.Type == "text", b.Type == "thinking", b.Type == "redacted_thinking":
			// Nothing to read.
		case b.Type == "tool_use" && c.beginCall(b.droidCall):
		default:
			c.strange(r)
		}
	}
	if said.Len() > 0 {
		c.end.claim = head(said.String(), maxWords)
	}
}

// answered notes that the provider works and the model goes on.
func (c *droidTurn) answered() {
	c.retries, c.retryBy = 0, time.Time{}
	c.held, c.denials = false, nil // what was denied it has heard
	c.end.turns++
}

// droidReport starts the id of the message that brings a subagent's report.
const droidReport = "task-completion:"

// system handles what the CLI tells the model of itself.
func (c *droidTurn) system(id string, content []json.RawMessage) {
	for _, r := range content {
		var b droidBlock
		if decode(r, &b) != nil || b.Type != "text" {
			c.strange(r)
			continue
		}
		c.emit(KindSystemMessage, Message{Text: b.Text})
		if strings.HasPrefix(id, droidReport) {
			for child := range c.children {
				if strings.Contains(b.Text, child) {
					delete(c.children, child)
				}
			}
		}
	}
}

// droidMaxChildren bounds the subagents that are waited for.
const droidMaxChildren = 64

// child notes a subagent, which may outlast the turn.
func (c *droidTurn) child(id string) {
	if droidNamed(id) && len(c.children) < droidMaxChildren {
		c.children[id] = true
	}
}
