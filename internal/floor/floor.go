// Package floor keeps space free on a disk while something large is written to it.
package floor

import (
	"fmt"
	"io"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// interval is how many bytes are written between two looks at the free space.
const interval = 8 << 20

// block is what the smallest file takes on most file systems, in bytes.
const block = 4096

// Floor is the free space that one disk must keep. It is not safe for concurrent use. A nil Floor keeps nothing.
type Floor struct {
	dir   string
	least int64
	left  int64 // bytes that may be written before the next look
}

// New returns the floor of the disk that dir is on, least bytes above full; nil where least is 0.
func New(dir string, least int64) *Floor {
	if least <= 0 {
		return nil
	}
	return &Floor{dir: dir, least: least}
}

// LowError says that writing on would leave a disk less free space than it must keep.
type LowError struct{ Free, Least int64 } // bytes

func (e *LowError) Error() string {
	return fmt.Sprintf("the disk has %d bytes free and must keep %d", e.Free, e.Least)
}

// Take asks for room for n more bytes, before they are written. A file counts as at least one block. The error is a
// [*LowError], or one of the file system.
func (f *Floor) Take(n int64) error {
	if f == nil {
		return nil
	}
	n = max(n, block)
	if f.left -= n; f.left >= 0 {
		return nil
	}
	var s unix.Statfs_t
	if err := unix.Statfs(f.dir, &s); err != nil {
		return fmt.Errorf("measure the free space of %s: %w", filepath.Base(f.dir), err)
	}
	free := int64(s.Bavail) * s.Bsize
	above := free - f.least - n
	if above < 0 {
		return &LowError{Free: free, Least: f.least}
	}
	f.left = min(interval, above)
	return nil
}

// Writer writes to w as long as there is room.
func (f *Floor) Writer(w io.Writer) io.Writer {
	if f == nil {
		return w
	}
	return &writer{to: w, floor: f}
}

type writer struct {
	to      io.Writer
	floor   *Floor
	pending int64 // written since room was last asked for; small writes ask together
}

func (w *writer) Write(p []byte) (int, error) {
	if w.pending += int64(len(p)); w.pending >= block {
		if err := w.floor.Take(w.pending); err != nil {
			return 0, err
		}
		w.pending = 0
	}
	return w.to.Write(p)
}
