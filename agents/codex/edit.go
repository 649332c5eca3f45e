package codex

import (
	"encoding/json"

	"sandboxrun/agents/cli"
)

const (
	// maxEdits and maxEditBytes bound the edits that are remembered for
	// the request to permit them, which does not repeat what they change.
	maxEdits     = 64
	maxEditBytes = 16 << 20
)

// openEdits are the changes of open edits, by the id of their call. The zero
// value is ready.
type openEdits struct {
	open  map[string]json.RawMessage
	bytes int
}

// note remembers what an edit wants to change; false when that is too much.
func (e *openEdits) note(i threadItem) bool {
	if i.Type != "fileChange" {
		return true
	}
	e.drop(i.ID)
	if len(i.Changes) == 0 || len(e.open) >= maxEdits || e.bytes+len(i.Changes) > maxEditBytes {
		return len(i.Changes) == 0
	}
	if e.open == nil {
		e.open = map[string]json.RawMessage{}
	}
	e.open[i.ID] = i.Changes
	e.bytes += len(i.Changes)
	return true
}

func (e *openEdits) drop(id string) {
	e.bytes -= len(e.open[id])
	delete(e.open, id)
}

// of returns the changes of an edit as the JSON of an object, and the files
// they touch; nothing when it does not know them all.
func (e *openEdits) of(id string) (input json.RawMessage, paths []string) {
	var changes []struct {
		Path string `json:"path"`
		Kind struct {
			Move string `json:"move_path"`
		} `json:"kind"`
	}
	raw := e.open[id]
	if len(raw) == 0 || cli.Decode(raw, &changes) != nil || len(changes) == 0 {
		return nil, nil
	}
	for _, c := range changes {
		if c.Path == "" {
			return nil, nil
		}
		paths = append(paths, c.Path)
		if c.Kind.Move != "" {
			paths = append(paths, c.Kind.Move)
		}
	}
	return asJSON(map[string]json.RawMessage{"changes": raw}), paths
}
