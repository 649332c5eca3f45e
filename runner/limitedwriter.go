package runner

import (
	"errors"
	"io"
)

// errFull ends a stream that is longer than it may be.
var errFull = errors.New("longer than allowed")

// limitedWriter passes on so many bytes and fails after that, which ends the
// box that writes them.
type limitedWriter struct {
	to   io.Writer
	left int64
	full bool
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > w.left {
		w.full = true
		return 0, errFull
	}
	n, err := w.to.Write(p)
	w.left -= int64(n)
	return n, err
}

// cutWriter passes on so many bytes and swallows the rest.
type cutWriter struct {
	to   io.Writer
	left int
}

func (w *cutWriter) Write(p []byte) (int, error) {
	kept := min(len(p), w.left)
	if _, err := w.to.Write(p[:kept]); err != nil {
		return 0, err
	}
	w.left -= kept
	return len(p), nil
}
