package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"
)

// maxShown bounds how much of a frame an error shows, in bytes.
const maxShown = 2000

// same compares what the host said with the recording: JSON by its structure,
// anything else as it stands.
func same(e Entry, h heard) error {
	switch {
	case e.Argv != nil:
		if !slices.Equal(e.Argv, h.argv) {
			return fmt.Errorf("the host runs something else (-recorded +run):\n%s", cmp.Diff(e.Argv, h.argv))
		}
		return nil
	case (e.End == endInput) != h.end:
		return fmt.Errorf("recorded: %s\nthe host says: %s", show(e), h)
	case bytes.Equal(e.text(), h.text):
		return nil
	}
	want, ok := structure(e.text())
	got, also := structure(h.text)
	if !ok || !also {
		return fmt.Errorf("recorded: %s\nthe host says: %s", show(e), h)
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("the host says something else (-recorded +said):\n%s", cmp.Diff(want, got))
	}
	return nil
}

// structure is the value of one document of JSON.
func structure(text []byte) (v any, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return v, dec.Decode(&v) == nil && !dec.More()
}

// show is an entry for people.
func show(e Entry) string {
	var b bytes.Buffer
	if err := Write(&b, []Entry{e}); err != nil {
		return err.Error()
	}
	return cut(bytes.TrimSpace(b.Bytes()))
}

func (h heard) String() string {
	switch {
	case h.call != nil:
		return fmt.Sprintf("%s %s %s", h.call.method, h.call.path, cut(h.text))
	case h.argv != nil:
		return fmt.Sprintf("run %q", h.argv)
	case h.end:
		return "the end of its input"
	}
	return cut(h.text)
}

func cut(b []byte) string {
	if len(b) > maxShown {
		return string(b[:maxShown]) + "…"
	}
	return string(b)
}
