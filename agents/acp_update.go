package agents

import (
	"strings"
)

const (
	// maxACPMessage is where one message is cut into two, in bytes.
	maxACPMessage = 1 << 20
	// maxACPPlan bounds the entries of a plan that are shown.
	maxACPPlan = 200
)

// acpRun is a run of chunks that make one message.
type acpRun struct {
	kind Kind
	id   string
	text strings.Builder
}

// update handles an update of our session.
func (a *acpTurn) update(u acpUpdate, text []byte) {
	switch u.Type {
	case "agent_message_chunk", "agent_thought_chunk":
		a.chunk(u, text)
	case "tool_call", "tool_call_update":
		a.tool(u, text)
	case "plan":
		a.plan(u)
	case "usage_update":
		// How full the context is; what was used comes with the end.
		if u.Cost != nil && u.Cost.Currency == "USD" {
			a.total.CostUSD = u.Cost.Amount
		}
	case "user_message_chunk":
		// The prompt, which is known.
	default:
		a.strange(text)
	}
}

// chunk handles a piece of what the agent says or thinks.
func (a *acpTurn) chunk(u acpUpdate, text []byte) {
	var b acpBlock
	if decode(u.Content, &b) != nil || b.Type == "" {
		a.strange(text)
		return
	}
	if m := u.Meta.Usage; m != nil {
		n := m.usage()
		a.prompt.usage.InputTokens += n.InputTokens
		a.prompt.usage.OutputTokens += n.OutputTokens
		a.prompt.usage.CacheReadTokens += n.CacheReadTokens
		a.prompt.usage.CacheWriteTokens += n.CacheWriteTokens
	}
	said := b.text()
	if said == "" {
		return
	}
	if u.Type == "agent_thought_chunk" {
		a.speaks()
		a.say(KindThinking, u.MessageID, said)
		return
	}
	notice := acpSaid
	if a.quirks.notice != nil {
		notice = a.quirks.notice(said, a.run.kind != KindAssistantMessage)
	}
	switch notice {
	case acpSaid:
		a.speaks()
		a.say(KindAssistantMessage, u.MessageID, said)
	case acpSilent:
	case acpRemark:
		a.flush()
		a.emit(KindSystemMessage, Message{Text: said})
	case acpFailure:
		a.flush()
		a.prompt.failure = said
		a.emit(KindErrorMessage, Message{Text: said})
	}
}

// acts notes that the model goes on: what was a failure was not the end.
func (a *acpTurn) acts() { a.prompt.failure = "" }

// speaks notes that the model goes on with words, which it does only when it was
// told of what was denied.
func (a *acpTurn) speaks() { a.prompt.failure, a.prompt.refused = "", nil }

// say adds to a message, or begins the next.
func (a *acpTurn) say(kind Kind, id, text string) {
	if a.run.kind != kind || a.run.id != id || a.run.text.Len()+len(text) > maxACPMessage {
		a.flush()
	}
	a.run.kind, a.run.id = kind, id
	a.run.text.WriteString(text)
}

// flush ends the message that is being said.
func (a *acpTurn) flush() {
	if text := a.run.text.String(); text != "" {
		a.emit(a.run.kind, Message{Text: text})
		if a.run.kind == KindAssistantMessage {
			a.prompt.claim = text
		}
	}
	a.run = acpRun{}
}

// plan shows the agent's plan as it stands.
func (a *acpTurn) plan(u acpUpdate) {
	a.flush()
	var b strings.Builder
	b.WriteString("plan:")
	for i, e := range u.Entries {
		if i >= maxACPPlan {
			b.WriteString("\n…")
			break
		}
		mark := " "
		switch e.Status {
		case "completed":
			mark = "x"
		case "in_progress":
			mark = "-"
		}
		b.WriteString("\n[" + mark + "] " + e.Content)
	}
	a.emit(KindSystemMessage, Message{Text: b.String()})
}
