package opencode

import (
	"context"
	"encoding/json"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// eventFrame is one event of the server.
type eventFrame struct {
	Type       string          `json:"type"`
	Properties json.RawMessage `json:"properties"`
}

// ignoredEvents are events whose content comes by others too, or is of no
// interest for a turn.
var ignoredEvents = map[string]bool{
	"server.connected": true, "server.heartbeat": true, "server.instance.disposed": true, "global.disposed": true,
	"session.updated": true, "session.diff": true, "session.deleted": true,
	"message.part.delta": true, "message.part.removed": true, "message.removed": true,
	"question.rejected": true, "question.replied": true, "todo.updated": true, "command.executed": true,
	"plugin.added": true, "catalog.updated": true, "integration.updated": true, "integration.connection.updated": true,
	"reference.updated": true, "models-dev.refreshed": true, "installation.updated": true, "installation.update-available": true,
	"file.edited": true, "file.watcher.updated": true, "lsp.updated": true, "mcp.tools.changed": true,
	"project.updated": true, "project.directories.updated": true, "vcs.branch.updated": true,
}

// event handles one event. The connection's context goes with approvals: the
// turn's own end denies them by other means.
func (t *peer) event(ctx context.Context, text []byte) {
	var e eventFrame
	if err := cli.Decode(text, &e); err != nil {
		t.EmitUnknown(text)
		return
	}
	known := true
	switch e.Type {
	case "session.created":
		known = t.created(e.Properties)
	case "message.updated":
		known = t.message(e.Properties)
	case "message.part.updated":
		known = t.part(e.Properties)
	case "permission.asked":
		known = t.permission(ctx, e.Properties)
	case "permission.replied":
		known = t.replied(e.Properties)
	case "question.asked":
		known = t.question(ctx, e.Properties)
	case "session.status":
		known = t.status(e.Properties)
	case "session.idle":
		known = t.idle(e.Properties)
	case "session.turn.close":
		known = t.closed(e.Properties)
	case "session.error":
		known = t.failed(e.Properties)
	case "session.network.asked":
		known = t.offline(e.Properties)
	case "session.compacted":
		t.Emit(agents.KindSystemMessage, agents.Message{Text: "the agent summed up the conversation to make room"})
	default:
		known = ignoredEvents[e.Type] || t.program.ignored[e.Type]
	}
	if !known {
		t.EmitUnknown(text)
	}
}

// created notes a session that a task call of the model opened.
func (t *peer) created(properties json.RawMessage) bool {
	var p struct {
		Info struct {
			ID     string `json:"id"`
			Parent string `json:"parentID"`
		} `json:"info"`
	}
	if cli.Decode(properties, &p) != nil || p.Info.ID == "" {
		return false
	}
	if p.Info.ID != t.session {
		t.log.child(p.Info.ID, "")
	}
	return true
}

// messageEvent is a message event: one step of the model, or a prompt.
type messageEvent struct {
	Session string `json:"sessionID"`
	Info    struct {
		ID     string        `json:"id"`
		Role   string        `json:"role"`
		Model  string        `json:"modelID"`
		Finish string        `json:"finish"`
		Error  *sessionError `json:"error"`
		Time   struct {
			Created int64 `json:"created"`
		} `json:"time"`
	} `json:"info"`
}

func (t *peer) message(properties json.RawMessage) bool {
	var m messageEvent
	if cli.Decode(properties, &m) != nil || m.Info.ID == "" || m.Info.Role == "" {
		return false
	}
	t.end.clock.tell(m.Info.Time.Created)
	fresh, ok := t.log.message(m.Info.ID, m.Info.Role)
	if !ok {
		return false
	}
	if m.Session != t.session || t.end.over {
		return true
	}
	t.end.began = true
	if m.Info.Role != "assistant" {
		return true
	}
	if t.model == "" && m.Info.Model != "" {
		t.model = m.Info.Model
		t.Emit(agents.KindSystemMessage, agents.Message{Text: strings.TrimSpace(t.program.info.Title+" "+t.version) + ", model " + t.model})
	}
	if fresh {
		t.end.speaks()
	}
	if m.Info.Finish != "" {
		t.end.finish = m.Info.Finish
	}
	if m.Info.Error != nil {
		t.end.err = m.Info.Error
	}
	return true
}
