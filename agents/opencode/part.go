package opencode

import (
	"encoding/json"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// messagePart is a part of a message; the fields of all kinds of parts.
type messagePart struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Message   string `json:"messageID"`
	Session   string `json:"sessionID"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // made by the CLI
	Time      struct {
		End int64 `json:"end"`
	} `json:"time"`
	// of a tool
	Tool  string    `json:"tool"`
	Call  string    `json:"callID"`
	State toolState `json:"state"`
	// of step-finish
	Cost   float64     `json:"cost"`
	Tokens *stepTokens `json:"tokens"`
}

// stepTokens counts one step. Input is without what came from the cache,
// output without reasoning.
type stepTokens struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

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
