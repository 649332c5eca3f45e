package modelserver

import (
	"encoding/json"
	"strings"
)

// maxSampleDepth bounds how deep a sample follows its schema.
const maxSampleDepth = 8

// schema is the part of a JSON Schema that a sample needs.
type schema struct {
	Type       json.RawMessage            `json:"type"` // a name or a list of names
	Enum       []any                      `json:"enum"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Minimum    float64                    `json:"minimum"`
}

// sample is a small value that follows a JSON Schema, for side requests that
// ask for one: of every choice the first, of every object what it requires.
func sample(document json.RawMessage) any { return sampleAt(document, 0) }

func sampleAt(document json.RawMessage, depth int) any {
	var s schema
	if json.Unmarshal(document, &s) != nil || depth > maxSampleDepth {
		return nil
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	var name string
	if json.Unmarshal(s.Type, &name) != nil {
		var names []string
		if json.Unmarshal(s.Type, &names) == nil && len(names) > 0 {
			name = names[0]
		}
	}
	switch strings.ToLower(name) { // the Gemini API also takes STRING
	case "string":
		return "ok"
	case "number": // a confidence, mostly
		return s.Minimum
	case "integer": // a score, mostly, and scores begin at one
		return max(s.Minimum, 1)
	case "boolean":
		return false
	case "array":
		return []any{}
	case "null":
		return nil
	}
	object := map[string]any{}
	for _, member := range s.Required {
		object[member] = sampleAt(s.Properties[member], depth+1)
	}
	return object
}
