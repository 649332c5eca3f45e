// Package kit writes scenarios for any agent in terms of what is to be done. It
// knows the agents' own tools from the recordings.
package kit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sandboxrun/agents/recordings"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/sandbox"
)

// Kit makes one agent's tool calls. Templates hold {path} (absolute), {rel},
// {old}, {new}, {content}, {added} (the content as the lines a patch adds), {command}, {question}, {first} and {second}.
type Kit struct {
	// Model is a model name the CLI works with; "" for its default.
	Model string `json:"model"`

	ReadTool     *Template `json:"read"`
	EditTool     *Template `json:"edit"`
	WriteTool    *Template `json:"write"`
	RunTool      *Template `json:"run"`
	QuestionTool *Template `json:"question"` // nil: the CLI has no such tool

	// ServerTool is the tool "record" of the MCP server "mine", which takes a text;
	// nil where the CLI starts no servers. SearchTool finds it where the CLI does
	// not offer the tools of servers before the model looks for them.
	ServerTool *Template `json:"mcp"`
	SearchTool *Template `json:"mcp_search"`
}

// Template is a tool call with holes.
type Template struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Load reads the kit of an agent from its tools.json.
func Load(agent string) (Kit, error) {
	b, err := recordings.Tools(agent)
	if err != nil {
		return Kit{}, fmt.Errorf("agent %s: record one: %w", agent, err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var k Kit
	if err := dec.Decode(&k); err != nil {
		return Kit{}, fmt.Errorf("agent %s: tools.json: %w", agent, err)
	}
	for name, t := range map[string]*Template{"read": k.ReadTool, "edit": k.EditTool, "write": k.WriteTool, "run": k.RunTool} {
		if t == nil || t.Name == "" {
			return Kit{}, fmt.Errorf("agent %s: tools.json: no tool to %s", agent, name)
		}
	}
	return k, nil
}

// Read reads the file rel of the tree.
func (k Kit) Read(rel string) modelserver.ToolUse { return k.ReadTool.fill(place(rel)) }

// Edit replaces the text from by to in the file rel.
func (k Kit) Edit(rel, from, to string) modelserver.ToolUse {
	return k.EditTool.fill(append(place(rel), "{old}", from, "{new}", to))
}

// Write makes the file rel with content.
func (k Kit) Write(rel, content string) modelserver.ToolUse {
	return k.WriteTool.fill(append(place(rel), "{content}", content, "{added}", added(content)))
}

// Run runs a shell command.
func (k Kit) Run(command string) modelserver.ToolUse {
	return k.RunTool.fill([]string{"{command}", command})
}

// Question asks the user to choose one of two; false where the CLI cannot.
func (k Kit) Question(text, first, second string) (modelserver.ToolUse, bool) {
	if k.QuestionTool == nil {
		return modelserver.ToolUse{}, false
	}
	return k.QuestionTool.fill([]string{"{question}", text, "{first}", first, "{second}", second}), true
}

// Record calls the tool "record" of the MCP server "mine", in as many steps as
// that takes; nil where the CLI starts no servers.
func (k Kit) Record(text string) []modelserver.Step {
	if k.ServerTool == nil {
		return nil
	}
	var steps []modelserver.Step
	if k.SearchTool != nil {
		steps = append(steps, modelserver.Step{Tools: []modelserver.ToolUse{k.SearchTool.fill(nil)}})
	}
	return append(steps, modelserver.Step{Tools: []modelserver.ToolUse{k.ServerTool.fill([]string{"{content}", text})}})
}

// added is content with a plus before each line.
func added(content string) string {
	return "+" + strings.ReplaceAll(strings.TrimSuffix(content, "\n"), "\n", "\n+")
}

func place(rel string) []string { return []string{"{path}", sandbox.WorkDir + "/" + rel, "{rel}", rel} }

// fill puts values into the holes, inside of JSON strings only.
func (t *Template) fill(pairs []string) modelserver.ToolUse {
	var input any
	if err := json.Unmarshal(t.Input, &input); err != nil {
		panic(fmt.Sprintf("kit: input of %s: %v", t.Name, err)) // RawMessage of a decoded document
	}
	return modelserver.Tool(t.Name, replace(input, strings.NewReplacer(pairs...)))
}

func replace(v any, r *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return r.Replace(v)
	case []any:
		for i := range v {
			v[i] = replace(v[i], r)
		}
	case map[string]any:
		for name := range v {
			v[name] = replace(v[name], r)
		}
	}
	return v
}
