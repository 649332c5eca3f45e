package codex

import (
	"encoding/json"
	"path"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"

	"github.com/kballard/go-shellquote"
)

// threadItem is one thing in a turn. Which fields it has depends on its type.
type threadItem struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Status string `json:"status"` // inProgress, completed, failed, declined
	// agentMessage, plan
	Text string `json:"text"`
	// reasoning
	Summary []string `json:"summary"`
	Content []string `json:"content"`
	// commandExecution
	Command  string `json:"command"`
	CWD      string `json:"cwd"`
	Output   string `json:"aggregatedOutput"`
	ExitCode *int   `json:"exitCode"`
	// fileChange
	Changes json.RawMessage `json:"changes"`
	// mcpToolCall, dynamicToolCall, collabAgentToolCall
	Server    string          `json:"server"`
	Namespace string          `json:"namespace"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Success   *bool           `json:"success"`
	Prompt    string          `json:"prompt"`
	Receivers []string        `json:"receiverThreadIds"`
	// webSearch, imageView
	Query string `json:"query"`
	Path  string `json:"path"`
}

// call is the tool an item is a call of, what that does, and its input.
func (i threadItem) call() (tool string, action agents.Action, input json.RawMessage) {
	switch i.Type {
	case "commandExecution":
		return i.Type, agents.ActionCommand, asJSON(map[string]string{"command": innerScript(i.Command), "cwd": i.CWD})
	case "fileChange":
		return i.Type, agents.ActionEdit, asJSON(map[string]any{"changes": list(i.Changes)})
	case "mcpToolCall":
		return mcpTool(i.Server, i.Tool), agents.ActionMCP, cli.Object(i.Arguments)
	case "dynamicToolCall":
		return i.Tool, agents.ActionOther, cli.Object(i.Arguments)
	case "collabAgentToolCall":
		return i.Tool, agents.ActionTask, asJSON(map[string]any{"prompt": i.Prompt, "threads": i.Receivers})
	case "webSearch":
		return i.Type, agents.ActionWeb, asJSON(map[string]string{"query": i.Query})
	case "imageView":
		return i.Type, agents.ActionRead, asJSON(map[string]string{"path": i.Path})
	}
	return i.Type, agents.ActionOther, cli.Object(nil)
}

// mcpTool is the name a tool of an MCP server has for the model.
func mcpTool(server, tool string) string { return "mcp__" + server + "__" + tool }

// told is what the model was told of the result, as far as the item says it.
func (i threadItem) told() string {
	if i.Type == "commandExecution" {
		return i.Output
	}
	var failure struct {
		Message string `json:"message"`
	}
	if cli.Decode(cli.Object(i.Error), &failure) == nil && failure.Message != "" {
		return failure.Message
	}
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if cli.Decode(cli.Object(i.Result), &result) != nil {
		return ""
	}
	texts := make([]string, 0, len(result.Content))
	for _, c := range result.Content {
		if c.Text != "" {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// innerScript is the command the model wrote: Codex runs it as the last word of
// "/usr/bin/bash -lc '...'". Anything else stays as it is.
func innerScript(command string) string {
	words, err := shellquote.Split(command)
	if err != nil || len(words) != 3 || words[1] != "-lc" && words[1] != "-c" {
		return command
	}
	switch path.Base(words[0]) {
	case "bash", "sh", "zsh":
		return words[2]
	}
	return command
}

// list is b where it is there, and an empty list otherwise.
func list(b json.RawMessage) json.RawMessage {
	if len(b) == 0 {
		return json.RawMessage("[]")
	}
	return b
}

func asJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return cli.Object(nil) // strings, and JSON that was decoded, always marshal
	}
	return b
}
