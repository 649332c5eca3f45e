package agents

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/kballard/go-shellquote"
)

// call is the tool an item is a call of, what that does, and its input.
func (i codexItem) call() (tool string, action Action, input json.RawMessage) {
	switch i.Type {
	case "commandExecution":
		return i.Type, ActionCommand, codexJSON(map[string]string{"command": codexScript(i.Command), "cwd": i.CWD})
	case "fileChange":
		return i.Type, ActionEdit, codexJSON(map[string]any{"changes": list(i.Changes)})
	case "mcpToolCall":
		return codexMCPTool(i.Server, i.Tool), ActionMCP, object(i.Arguments)
	case "dynamicToolCall":
		return i.Tool, ActionOther, object(i.Arguments)
	case "collabAgentToolCall":
		return i.Tool, ActionTask, codexJSON(map[string]any{"prompt": i.Prompt, "threads": i.Receivers})
	case "webSearch":
		return i.Type, ActionWeb, codexJSON(map[string]string{"query": i.Query})
	case "imageView":
		return i.Type, ActionRead, codexJSON(map[string]string{"path": i.Path})
	}
	return i.Type, ActionOther, object(nil)
}

// codexMCPTool is the name a tool of an MCP server has for the model.
func codexMCPTool(server, tool string) string { return "mcp__" + server + "__" + tool }

// told is what the model was told of the result, as far as the item says it.
func (i codexItem) told() string {
	if i.Type == "commandExecution" {
		return i.Output
	}
	var failure struct {
		Message string `json:"message"`
	}
	if decode(object(i.Error), &failure) == nil && failure.Message != "" {
		return failure.Message
	}
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if decode(object(i.Result), &result) != nil {
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

// codexScript is the command the model wrote: Codex runs it as the last word of
// "/usr/bin/bash -lc '...'". Anything else stays as it is.
func codexScript(command string) string {
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

func codexJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return object(nil) // strings, and JSON that was decoded, always marshal
	}
	return b
}
