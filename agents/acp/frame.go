package acp

import (
	"encoding/json"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"

	acp "github.com/coder/acp-go-sdk"
)

// What is read of the agent's messages. These are not the SDK's types, because
// those keep neither the exact bytes of a tool's input nor a message of which
// one field is not as expected.

// updateNotification is session/update.
type updateNotification struct {
	SessionID string          `json:"sessionId"`
	Update    json.RawMessage `json:"update"`
}

// sessionUpdate is one update of a session, or the tool call of a permission request.
type sessionUpdate struct {
	Type      string          `json:"sessionUpdate"`
	Content   json.RawMessage `json:"content"` // one block of a chunk, an array of a tool call
	CallID    string          `json:"toolCallId"`
	MessageID string          `json:"messageId"`
	Title     string          `json:"title"`
	Kind      acp.ToolKind    `json:"kind"`
	Status    string          `json:"status"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
	Entries []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"entries"` // of a plan
	Cost *struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`
	Meta struct {
		Tool       string      `json:"toolName"`
		Provenance string      `json:"provenance"`
		Usage      *tokenUsage `json:"usage"`
	} `json:"_meta"`

	announced string // the title of the call while it was pending
}

// contentBlock is a block of content, or one entry of a tool call's.
type contentBlock struct {
	Type    string        `json:"type"`
	Text    string        `json:"text"`
	Path    string        `json:"path"` // of a diff
	URI     string        `json:"uri"`
	Name    string        `json:"name"`
	Content *contentBlock `json:"content"`
}

// tokenUsage counts tokens.
type tokenUsage struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cachedReadTokens"`
	CacheWrite int64 `json:"cachedWriteTokens"`
}

// promptResult is the answer to session/prompt.
type promptResult struct {
	StopReason acp.StopReason  `json:"stopReason"`
	Usage      *tokenUsage     `json:"usage"`
	Meta       json.RawMessage `json:"_meta"`

	failure string // the CLI's own word that the model failed, when that came last
}

// sessionResult is the answer to session/new and session/load.
type sessionResult struct {
	SessionID string `json:"sessionId"`
	Modes     struct {
		Available []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	Models struct {
		Current   string `json:"currentModelId"`
		Available []struct {
			ID   string `json:"modelId"`
			Name string `json:"name"`
		} `json:"availableModels"`
	} `json:"models"`
}

// permissionRequest is session/request_permission.
type permissionRequest struct {
	SessionID string             `json:"sessionId"`
	Call      json.RawMessage    `json:"toolCall"`
	Options   []permissionOption `json:"options"`
}

// permissionOption is one way to answer a permission request.
type permissionOption struct {
	ID   string                   `json:"optionId"`
	Name string                   `json:"name"`
	Kind acp.PermissionOptionKind `json:"kind"`
}

// model is the name of the session's model.
func (s sessionResult) model() string {
	for _, m := range s.Models.Available {
		if m.ID == s.Models.Current && m.Name != "" {
			return m.Name
		}
	}
	return s.Models.Current
}

// plan is the id of the session's mode for planning, "" where there is none. Ids
// of modes may be addresses that end in the mode's name.
func (s sessionResult) plan() string {
	for _, m := range s.Modes.Available {
		if m.ID == "plan" || strings.HasSuffix(m.ID, "#plan") {
			return m.ID
		}
	}
	return ""
}

func (u tokenUsage) usage() agents.Usage {
	return agents.Usage{InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite}
}

// text is what a block says; what is no text is named.
func (b *contentBlock) text() string {
	switch {
	case b == nil:
		return ""
	case b.Type == "content":
		return b.Content.text()
	case b.Type == "text":
		return b.Text
	case b.URI != "":
		return "[" + b.Type + " " + b.URI + "]"
	}
	return ""
}

// blocks reads the content of a tool call; nil where it is none.
func (u *sessionUpdate) blocks() []contentBlock {
	var list []contentBlock
	if cli.Decode(u.Content, &list) != nil {
		return nil
	}
	return list
}

// said is the text of a tool call's content.
func (u *sessionUpdate) said() string {
	var parts []string
	for _, b := range u.blocks() {
		if t := b.text(); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "\n")
}
