package redact

import (
	"bytes"
	"encoding/json"
)

// JSON returns a JSON document with every known value replaced in its strings,
// the names of fields included. It stays a document of the same shape; doc
// itself comes back when it holds none. What is no JSON is treated as bytes.
//
// Strings are looked at as what they mean, so that however a document escapes a
// value, it is found, and a replacement never cuts an escape in two.
func (r *Redactor) JSON(doc []byte) []byte {
	s := r.current()
	if s == nil {
		return doc
	}
	if !json.Valid(doc) {
		return r.Bytes(doc)
	}
	var out []byte
	kept := 0 // how much of doc is in out, or needs no change
	for i := 0; i < len(doc); i++ {
		if doc[i] != '"' {
			continue
		}
		end := endOfString(doc, i)
		if fresh, changed := s.literal(doc[i:end]); changed {
			out = append(append(out, doc[kept:i]...), fresh...)
			kept = end
		}
		i = end - 1
	}
	if kept == 0 {
		return doc
	}
	return append(out, doc[kept:]...)
}

// endOfString returns where the string that begins at doc[i] ends.
func endOfString(doc []byte, i int) int {
	for j := i + 1; j < len(doc); j++ {
		switch doc[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return len(doc)
}

// literal redacts one string with its quotes.
func (s *set) literal(lit []byte) (fresh []byte, changed bool) {
	text := lit[1 : len(lit)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		var meant string
		if json.Unmarshal(lit, &meant) == nil {
			text = []byte(meant)
		}
	}
	nd, _, _ := s.next(text, true)
	if nd == nil {
		return nil, false
	}
	clean, _ := s.replace(nil, text, true)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(string(clean)); err != nil {
		panic("redact: " + err.Error()) // strings always marshal
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), true
}
