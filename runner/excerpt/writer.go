package excerpt

import (
	"errors"
	"io"
)

// errFull ends a stream that is longer than it may be.
var errFull = errors.New("longer than allowed")

// LimitedWriter passes on so many bytes and fails after that, which ends the
// box that writes them.
type LimitedWriter struct {
	To   io.Writer
	Left int64
	Full bool
}

func (w *LimitedWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > w.Left {
		w.Full = true
		return 0, errFull
	}
	n, err := w.To.Write(p)
	w.Left -= int64(n)
	return n, err
}

// CutWriter passes on so many bytes and swallows the rest.
type CutWriter struct {
	To   io.Writer
	Left int
}

func (w *CutWriter) Write(p []byte) (int, error) {
	kept := min(len(p), w.Left)
	if _, err := w.To.Write(p[:kept]); err != nil {
		return 0, err
	}
	w.Left -= kept
	return len(p), nil
}
