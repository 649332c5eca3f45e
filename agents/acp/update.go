package acp

import (
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// update handles an update of our session.
func (a *peer) update(u sessionUpdate, text []byte) {
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
		a.EmitUnknown(text)
	}
}

// chunk handles a piece of what the agent says or thinks.
func (a *peer) chunk(u sessionUpdate, text []byte) {
	var b contentBlock
	if cli.Decode(u.Content, &b) != nil || b.Type == "" {
		a.EmitUnknown(text)
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
		a.say(agents.KindThinking, u.MessageID, said)
		return
	}
	notice := noticeNone
	if a.quirks.notice != nil {
		notice = a.quirks.notice(said, a.run.kind != agents.KindAssistantMessage)
	}
	switch notice {
	case noticeNone:
		a.speaks()
		a.say(agents.KindAssistantMessage, u.MessageID, said)
	case noticeSilent:
	case noticeRemark:
		a.flush()
		a.Emit(agents.KindSystemMessage, agents.Message{Text: said})
	case failedChunk:
		a.flush()
		a.prompt.failure = said
		a.Emit(agents.KindErrorMessage, agents.Message{Text: said})
	}
}

// speaks notes that the model goes on with words, which it does only when it was
// told of what was denied.
func (a *peer) speaks() { a.prompt.failure, a.prompt.refused = "", nil }

// plan shows the agent's plan as it stands.
func (a *peer) plan(u sessionUpdate) {
	a.flush()
	var b strings.Builder
	b.WriteString("plan:")
	for i, e := range u.Entries {
		if i >= maxPlan {
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
	a.Emit(agents.KindSystemMessage, agents.Message{Text: b.String()})
}
