package cli

import (
	"encoding/json"
	"errors"
)

// MaxDepth is how deep the JSON of an agent's frame may nest. Real frames stay
// below 20; a tool's input is whatever the model wrote.
const MaxDepth = 200

var errTooDeep = errors.New("json nests too deep")

// Decode reads one JSON value of bounded depth into v. A field whose value has
// another type than expected stays zero and the rest is read all the same: a
// newer version of an agent may have changed it.
func Decode(b []byte, v any) error {
	if Depth(b) > MaxDepth {
		return errTooDeep
	}
	err := json.Unmarshal(b, v)
	if _, mismatch := errors.AsType[*json.UnmarshalTypeError](err); mismatch {
		return nil
	}
	return err
}

// Depth is the deepest nesting of arrays and objects in b, taken from its
// brackets alone: b need not be valid.
func Depth(b []byte) int {
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

// raw makes JSON of a frame of an unknown kind: the frame itself where it is JSON of bounded
// depth, as a string otherwise. b is valid UTF-8, so nothing gets lost.
func raw(b []byte) json.RawMessage {
	if Depth(b) <= MaxDepth && json.Valid(b) {
		return b
	}
	quoted, err := json.Marshal(string(b))
	if err != nil {
		return json.RawMessage(`""`) // strings always marshal
	}
	return quoted
}
