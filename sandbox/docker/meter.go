package docker

import (
	"fmt"
	"io"
	"sync/atomic"

	"sandboxrun/sandbox"
)

// meter counts the output of all execs of a box against one limit.
type meter struct {
	limit int64
	used  atomic.Int64
}

// writer passes on what fits the limit, and fails with *sandbox.LimitError on
// the first byte that does not. A nil w discards, but counts.
func (m *meter) writer(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return &meteredWriter{m, w}
}

type meteredWriter struct {
	meter *meter
	to    io.Writer
}

func (w *meteredWriter) Write(p []byte) (int, error) {
	over := w.meter.used.Add(int64(len(p))) - w.meter.limit
	if over <= 0 {
		return w.to.Write(p)
	}
	n, err := w.to.Write(p[:max(0, int64(len(p))-over)])
	if err != nil {
		return n, err
	}
	return n, &sandbox.LimitError{
		Limit: sandbox.LimitOutput, Which: sandbox.MeasureOutput, Allowed: w.meter.limit, Measured: w.meter.limit + over,
		Detail: fmt.Sprintf("more than %d bytes of output", w.meter.limit),
	}
}
