package runner

import (
	"bytes"
	"encoding/json"
)

// EncodeDocument writes a document as the program shows and keeps it: indented,
// ending in one newline, with &, < and > as they are, since commands are full
// of them.
func EncodeDocument(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
