package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"sandboxrun/runner/excerpt"
)

// Encode writes a document as the program shows and keeps it: indented,
// ending in one newline, with &, < and > as they are, since commands are full
// of them. Characters that steer a terminal or turn the direction of text are
// written as escapes: a document is looked at more often than one would think,
// and to a parser both are the same.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapeUnseen(b.Bytes()), nil
}

// escapeUnseen writes the characters that Printable would not show as they are
// as JSON escapes. The encoder has seen to those below 0x20. They stand in
// strings only, so the document stays the same.
func escapeUnseen(doc []byte) []byte {
	steers := func(r rune) bool { return r >= 0x7f && excerpt.Unseen(r) }
	if bytes.IndexFunc(doc, steers) < 0 {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	for len(doc) > 0 {
		r, width := utf8.DecodeRune(doc)
		if steers(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		} else {
			out = append(out, doc[:width]...)
		}
		doc = doc[width:]
	}
	return out
}
