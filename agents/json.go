package agents

import (
	"encoding/json"
	"errors"
)

// maxDepth is how deep the JSON of an agent's frame may nest. Real frames stay
// below 20; a tool's input is whatever the model wrote.
const maxDepth = 200

var errTooDeep = errors.New("json nests too deep")

// decode reads one JSON value of bounded depth into v. A field whose value has
// another type than expected stays zero and the rest is read all the same: a
// newer version of an agent may have changed it.
func decode(b []byte, v any) error {
	if depth(b) > maxDepth {
		return errTooDeep
	}
	err := json.Unmarshal(b, v)
	if _, mismatch := errors.AsType[*json.UnmarshalTypeError](err); mismatch {
		return nil
	}
	return err
}

// depth is the deepest nesting of arrays and objects in b, taken from its
// brackets alone: b need not be valid.
func depth(b []byte) int {
	var now, deepest int
	var inString, escaped bool
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// raw keeps what nobody knows as JSON: as it is where it is JSON of bounded
// depth, as a string otherwise. b is valid UTF-8, so nothing gets lost.
func raw(b []byte) json.RawMessage {
	if depth(b) <= maxDepth && json.Valid(b) {
		return b
	}
	quoted, err := json.Marshal(string(b))
	if err != nil {
		return json.RawMessage(`""`) // strings always marshal
	}
	return quoted
}
