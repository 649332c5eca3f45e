package agents

import (
	"encoding/json"
	"regexp"
	"slices"

	acp "github.com/coder/acp-go-sdk"
)

const (
	// maxACPOver bounds the calls that are remembered after their result.
	maxACPOver = 16 << 10
	// maxACPPaths bounds the paths that are read of one call.
	maxACPPaths = 64
)

// acpTool is a tool call, as it becomes known piece by piece.
type acpTool struct {
	update acpUpdate // the last of every field
	shown  bool      // its event was emitted
}

// tool handles tool_call and tool_call_update. Agents announce a call before
// its input is known, and some only by asking for permission.
func (a *acpTurn) tool(u acpUpdate, text []byte) {
	if denied, over := a.over[u.CallID]; over {
		if !denied || u.Status == string(acp.ToolCallStatusCompleted) {
			a.strange(text) // it has a result, or ran although it was denied
		}
		return
	}
	a.flush()
	t := a.merge(u)
	if t == nil {
		a.strange(text)
		return
	}
	a.acts()
	final := u.Status == string(acp.ToolCallStatusCompleted) || u.Status == string(acp.ToolCallStatusFailed)
	// A call that is pending without an input is still being written by the model.
	if (final || u.Status == string(acp.ToolCallStatusInProgress) || !acpEmpty(t.update.Input)) && !a.show(t) {
		a.strange(text)
		delete(a.tools, u.CallID)
		return
	}
	if final {
		a.result(u)
	}
}

// merge notes what u says of its call; nil where there can be none of that id.
func (a *acpTurn) merge(u acpUpdate) *acpTool {
	_, over := a.over[u.CallID]
	t := a.tools[u.CallID]
	switch {
	case u.CallID == "" || len(u.CallID) > maxACPID || over:
		return nil
	case t == nil && (len(a.tools) >= maxOpenCalls || len(a.over) >= maxACPOver):
		return nil
	case t == nil:
		t = &acpTool{update: acpUpdate{CallID: u.CallID}}
		a.tools[u.CallID] = t
	}
	was := &t.update
	if u.Title != "" {
		was.Title = u.Title
	}
	if u.Kind != "" {
		was.Kind = u.Kind
	}
	if !acpEmpty(u.Input) {
		was.Input = u.Input
	}
	if len(u.Locations) > 0 {
		was.Locations = u.Locations
	}
	if len(u.blocks()) > 0 {
		was.Content = u.Content
	}
	if u.Meta.Tool != "" {
		was.Meta = u.Meta
	}
	return t
}

// show emits a call, once; false when its id cannot be used.
func (a *acpTurn) show(t *acpTool) bool {
	if t.shown {
		return true
	}
	u := &t.update
	tool, action := a.name(u)
	if !a.calls.begin(u.CallID, action, a.command(u, action)) {
		return false
	}
	t.shown = true
	a.emit(KindToolCall, ToolCall{ID: u.CallID, Tool: tool, Action: action, Input: u.input()})
	return true
}

// name is the tool of a call, and what it does.
func (a *acpTurn) name(u *acpUpdate) (string, Action) {
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
	tool = head(tool, maxACPID)
	if u.Meta.Provenance == "mcp" || a.quirks.mcp != nil && a.quirks.mcp(tool) {
		return tool, ActionMCP
	}
	return tool, acpAction(u.Kind)
}

func acpAction(kind acp.ToolKind) Action {
	switch kind {
	case acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove:
		return ActionEdit
	case acp.ToolKindExecute:
		return ActionCommand
	case acp.ToolKindRead:
		return ActionRead
	case acp.ToolKindSearch:
		return ActionSearch
	case acp.ToolKindFetch:
		return ActionWeb
	case acp.ToolKindThink, acp.ToolKindSwitchMode, acp.ToolKindOther:
	}
	return ActionOther
}

// acpInput is what the inputs of tools usually call what they touch.
type acpInput struct {
	Command string `json:"command"`
	Path    string `json:"path"`
	File    string `json:"file_path"`
	Name    string `json:"fileName"`
}

func (u *acpUpdate) target() (in acpInput) {
	if decode(object(u.Input), &in) != nil {
		return acpInput{}
	}
	return in
}

// command is the command line of a call that runs one.
func (a *acpTurn) command(u *acpUpdate, action Action) string {
	if action != ActionCommand {
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
func (u *acpUpdate) paths() []string {
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
		if p != "" && !slices.Contains(paths, p) && len(paths) < maxACPPaths {
			paths = append(paths, p)
		}
	}
	return paths
}

// input is the input of a call. Some agents keep it to themselves: what they
// show to people is all there is then.
func (u *acpUpdate) input() json.RawMessage {
	if !acpEmpty(u.Input) {
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
		return object(nil) // strings and what was decoded always marshal
	}
	return b
}

// acpNothing is an input without anything in it.
var acpNothing = regexp.MustCompile(`^\s*(null|\{\s*\}|"")?\s*$`)

func acpEmpty(input json.RawMessage) bool { return acpNothing.Match(input) }
