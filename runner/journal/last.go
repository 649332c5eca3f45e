package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// firstLook is how much of the end of a journal is read first, in bytes; nearly every line is shorter.
const firstLook = 16 << 10

// Last reads the last complete event of a journal without reading what comes before it. ok is false where it has none
// yet. The error is fs.ErrNotExist where there is no journal.
func Last(path string) (e Event, ok bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return Event{}, false, fmt.Errorf("read journal: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	fi, err := f.Stat()
	if err != nil {
		return Event{}, false, fmt.Errorf("read journal: %w", err)
	}
	// A complete line, the newline before it, and a torn line after it.
	for look := int64(firstLook); ; look *= 4 {
		look = min(look, 2*maxLine+1, fi.Size())
		part := make([]byte, look)
		if _, err := f.ReadAt(part, fi.Size()-look); err != nil && !errors.Is(err, io.EOF) {
			return Event{}, false, fmt.Errorf("read journal: %w", err)
		}
		whole := look == fi.Size()
		if line, found := lastLine(part, whole); found {
			if e, err = parseLine(line); err != nil {
				return Event{}, false, fmt.Errorf("read journal: %w", err)
			}
			return e, true, nil
		}
		if whole || look > 2*maxLine {
			return Event{}, false, nil
		}
	}
}

// lastLine returns the last complete line of the end of a file, which begins with the file where whole is set.
func lastLine(part []byte, whole bool) ([]byte, bool) {
	end := bytes.LastIndexByte(part, '\n')
	if end < 0 {
		return nil, false
	}
	begin := bytes.LastIndexByte(part[:end], '\n')
	if begin < 0 && !whole {
		return nil, false
	}
	return part[begin+1 : end], true
}
