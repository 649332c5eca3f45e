package agents

import "encoding/json"

// opencodePart is a part of a message; the fields of all kinds of parts.
type opencodePart struct {
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
	Tool  string        `json:"tool"`
	Call  string        `json:"callID"`
	State opencodeState `json:"state"`
	// of step-finish
	Cost   float64         `json:"cost"`
	Tokens *opencodeTokens `json:"tokens"`
}

// opencodeTokens counts one step. Input is without what came from the cache,
// output without reasoning.
type opencodeTokens struct {
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
func (t *opencodeTurn) part(properties json.RawMessage) bool {
	var p struct {
		Part opencodePart `json:"part"`
		Time int64        `json:"time"`
	}
	if decode(properties, &p) != nil || p.Part.ID == "" {
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
			t.emit(KindUsage, t.end.total)
		}
		return true
	case "step-start", "snapshot", "patch", "file", "agent", "subtask", "compaction", "retry":
		return true // what they are about has events of its own
	}
	return false
}

// words handles text: of the model, of the CLI to the model, or of a prompt. The
// turn's own prompt was told already.
func (t *opencodeTurn) words(p opencodePart) bool {
	role, known := t.log.roles[p.Message]
	if !known {
		return false
	}
	m := Message{Text: p.Text, Parent: t.log.children[p.Session]}
	kind := KindAssistantMessage
	switch {
	case p.Type == "reasoning":
		kind = KindThinking
	case role == "user" && p.Synthetic:
		kind = KindSystemMessage
	case role == "user":
		kind = KindUserMessage
	}
	own := p.Session == t.session
	switch {
	case p.Text == "", role != "user" && p.Time.End == 0, kind == KindUserMessage && own, !t.log.done(p.ID):
		return true
	}
	if own && kind == KindAssistantMessage {
		t.end.said(p.Message, p.Text)
	}
	t.emit(kind, m)
	return true
}
