package acp

import (
	"encoding/json"
	"regexp"
	"slices"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"

	acp "github.com/coder/acp-go-sdk"
)

const (
	// maxOver bounds the calls that are remembered after their result.
	maxOver = 16 << 10
	// maxPaths bounds the paths that are read of one call.
	maxPaths = 64
)

// tool handles tool_call and tool_call_update. Agents announce a call before
// its input is known, and some only by asking for permission.
func (a *peer) tool(u sessionUpdate, text []byte) {
	if denied, over := a.over[u.CallID]; over {
		if !denied || u.Status == string(acp.ToolCallStatusCompleted) {
			a.EmitUnknown(text) // it has a result, or ran although it was denied
		}
		return
	}
	a.flush()
	t := a.merge(u)
	if t == nil {
		a.EmitUnknown(text)
		return
	}
	a.acts()
	final := u.Status == string(acp.ToolCallStatusCompleted) || u.Status == string(acp.ToolCallStatusFailed)
	// A call that is pending without an input is still being written by the model.
	running := u.Status == string(acp.ToolCallStatusInProgress) && !a.quirks.writes
	told := !emptyInput(u.Input) || !a.quirks.writes && !emptyInput(t.update.Input)
	if (final || running || told) && !a.show(t) {
		a.EmitUnknown(text)
		delete(a.tools, u.CallID)
		return
	}
	if final {
		a.result(u)
	}
}

// merge notes what u says of its call; nil where there can be none of that id.
func (a *peer) merge(u sessionUpdate) *toolCall {
	_, over := a.over[u.CallID]
	t := a.tools[u.CallID]
	switch {
	case u.CallID == "" || len(u.CallID) > maxID || over:
		return nil
	case t == nil && (len(a.tools) >= cli.MaxOpenCalls || len(a.over) >= maxOver):
		return nil
	case t == nil:
		t = &toolCall{update: sessionUpdate{CallID: u.CallID}}
		a.tools[u.CallID] = t
	}
	was := &t.update
	if u.Status == string(acp.ToolCallStatusPending) && was.announced == "" {
		was.announced = u.Title
	}
	if u.Title != "" {
		was.Title = u.Title
	}
	if u.Kind != "" {
		was.Kind = u.Kind
	}
	if !emptyInput(u.Input) {
		was.Input = u.Input
	}
	if len(u.Locations) > 0 {
		was.Locations = u.Locations
	}
	if len(u.blocks()) > 0 {
		was.Content = u.Content
	}
	open := u.Status == string(acp.ToolCallStatusPending) || u.Status == string(acp.ToolCallStatusInProgress)
	if a.quirks.writes && open && emptyInput(u.Input) {
		was.Input = u.written()
	}
	if u.Meta.Tool != "" {
		was.Meta = u.Meta
	}
	return t
}

// show emits a call, once; false when its id cannot be used.
func (a *peer) show(t *toolCall) bool {
	if t.shown {
		return true
	}
	u := &t.update
	tool, action := a.name(u)
	t.tool, t.action = tool, action
	if !a.Calls.Begin(u.CallID, action, a.command(u, action)) {
		return false
	}
	t.shown = true
	a.Emit(agents.KindToolCall, agents.ToolCall{ID: u.CallID, Tool: tool, Action: action, Input: u.input()})
	return true
}

// name is the tool of a call, and what it does.
func (a *peer) name(u *sessionUpdate) (string, agents.Action) {
	tool := u.Meta.Tool
	if tool == "" && a.quirks.tool != nil {
		tool = a.quirks.tool(u)
	}
	if tool == "" {
		tool = string(u.Kind)
	}
	if tool == "" {
		tool = string(acp.ToolKindOther)
	}
	tool = cli.Head(tool, maxID)
	if u.Meta.Provenance == "mcp" || a.quirks.mcp != nil && a.quirks.mcp(tool) {
		return tool, agents.ActionMCP
	}
	return tool, actionOf(u.Kind)
}

func actionOf(kind acp.ToolKind) agents.Action {
	switch kind {
	case acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove:
		return agents.ActionEdit
	case acp.ToolKindExecute:
		return agents.ActionCommand
	case acp.ToolKindRead:
		return agents.ActionRead
	case acp.ToolKindSearch:
		return agents.ActionSearch
	case acp.ToolKindFetch:
		return agents.ActionWeb
	case acp.ToolKindThink, acp.ToolKindSwitchMode, acp.ToolKindOther:
	}
	return agents.ActionOther
}

// target is what the inputs of tools usually call what they touch.
type target struct {
	Command string `json:"command"`
	Path    string `json:"path"`
	File    string `json:"file_path"`
	Name    string `json:"fileName"`
}

func (u *sessionUpdate) target() (in target) {
	if cli.Decode(cli.Object(u.Input), &in) != nil {
		return target{}
	}
	return in
}

// command is the command line of a call that runs one.
func (a *peer) command(u *sessionUpdate, action agents.Action) string {
	if action != agents.ActionCommand {
		return ""
	}
	if c := u.target().Command; c != "" {
		return c
	}
	if a.quirks.titled {
		return u.Title
	}
	return ""
}

// paths are the files a call says it touches.
func (u *sessionUpdate) paths() []string {
	in := u.target()
	list := []string{in.Path, in.File, in.Name}
	for _, l := range u.Locations {
		list = append(list, l.Path)
	}
	for _, b := range u.blocks() {
		list = append(list, b.Path)
	}
	var paths []string
	for _, p := range list {
		if p != "" && !slices.Contains(paths, p) && len(paths) < maxPaths {
			paths = append(paths, p)
		}
	}
	return paths
}

// input is the input of a call. Some agents keep it to themselves: what they
// show to people is all there is then.
func (u *sessionUpdate) input() json.RawMessage {
	if !emptyInput(u.Input) {
		return u.Input
	}
	shown := struct {
		Title   string          `json:"title"`
		Paths   []string        `json:"paths,omitempty"`
		Content json.RawMessage `json:"content,omitempty"`
	}{Title: u.Title, Paths: u.paths()}
	if len(u.blocks()) > 0 {
		shown.Content = u.Content
	}
	b, err := json.Marshal(shown)
	if err != nil {
		return cli.Object(nil) // strings and what was decoded always marshal
	}
	return b
}

// written is the input that the model has written so far, nil while it is not whole.
func (u *sessionUpdate) written() json.RawMessage {
	text := json.RawMessage(u.said())
	var whole map[string]json.RawMessage
	if cli.Decode(text, &whole) != nil {
		return nil
	}
	return text
}

// emptyPattern is an input without anything in it.
var emptyPattern = regexp.MustCompile(`^\s*(null|\{\s*\}|"")?\s*$`)

func emptyInput(input json.RawMessage) bool { return emptyPattern.Match(input) }
