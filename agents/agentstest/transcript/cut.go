package transcript

import (
	"bytes"
	"encoding/json"
)

// cutAbove is the length in bytes up to which a list stays as it is.
const cutAbove = 1 << 10

// cutMark stands alone in a list that a recorder has cut.
const cutMark = `["cut from the recording"]`

// cutLists empties the long lists of these names in a frame of JSON. Their other
// bytes stay as they are, for adapters are given exact ones.
func cutLists(frame []byte, names []string) []byte {
	for _, name := range names {
		key := []byte(`"` + name + `":[`)
		for from := 0; ; {
			i := bytes.Index(frame[from:], key)
			if i < 0 {
				break
			}
			from += i + len(key) - 1
			var list json.RawMessage
			if json.NewDecoder(bytes.NewReader(frame[from:])).Decode(&list) != nil || len(list) <= cutAbove {
				continue
			}
			frame = append(append(bytes.Clone(frame[:from]), cutMark...), frame[from+len(list):]...)
			from += len(cutMark)
		}
	}
	return frame
}
