package opencode

import (
	"encoding/json"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// part handles one state of a part. Parts that stream are told again and again
// until they have an end.
func (t *peer) part(properties json.RawMessage) bool {
	var p struct {
		Part messagePart `json:"part"`
		Time int64       `json:"time"`
	}
	if cli.Decode(properties, &p) != nil || p.Part.ID == "" {
		return false
	}
	t.end.clock.tell(p.Time)
	switch p.Part.Type {
	case "text", "reasoning":
		return t.words(p.Part)
	case "tool":
		return t.tool(p.Part)
	case "step-finish":
		if p.Part.Tokens != nil && t.log.done(p.Part.ID) {
			t.end.usage(p.Part)
			t.Emit(agents.KindUsage, t.end.total)
		}
		return true
	case "step-start", "snapshot", "patch", "file", "agent", "subtask", "compaction", "retry":
		return true // what they are about has events of its own
	}
	return false
}

// words handles text: of the model, of the CLI to the model, or of a prompt. The
// turn's own prompt was told already.
func (t *peer) words(p messagePart) bool {
	role, known := t.log.roles[p.Message]
	if !known {
		return false
	}
	m := agents.Message{Text: p.Text, Parent: t.log.children[p.Session]}
	kind := agents.KindAssistantMessage
	switch {
	case p.Type == "reasoning":
		kind = agents.KindThinking
	case role == "user" && p.Synthetic:
		kind = agents.KindSystemMessage
	case role == "user":
		kind = agents.KindUserMessage
	}
	own := p.Session == t.session
	switch {
	case p.Text == "", role != "user" && p.Time.End == 0, kind == agents.KindUserMessage && own, !t.log.done(p.ID):
		return true
	}
	if own && kind == agents.KindAssistantMessage {
		t.end.said(p.Message, p.Text)
	}
	t.Emit(kind, m)
	return true
}
