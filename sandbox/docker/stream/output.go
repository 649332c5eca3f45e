package stream

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"sandboxrun/sandbox"
)

// Meter counts the output of all execs of a box against one limit.
type Meter struct {
	Limit int64
	used  atomic.Int64
}

// Writer passes on what fits the limit, and fails with *sandbox.LimitError on the first byte beyond it. A nil w
// discards, but counts.
func (m *Meter) Writer(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return &meteredWriter{m, w}
}

// Passed is how many bytes were passed on; at most the limit.
func (m *Meter) Passed() int64 { return min(m.used.Load(), m.Limit) }

type meteredWriter struct {
	meter *Meter
	to    io.Writer
}

func (w *meteredWriter) Write(p []byte) (int, error) {
	over := w.meter.used.Add(int64(len(p))) - w.meter.Limit
	if over <= 0 {
		return w.to.Write(p)
	}
	n, err := w.to.Write(p[:max(0, int64(len(p))-over)])
	if err != nil {
		return n, err
	}
	return n, &sandbox.LimitError{
		Limit: sandbox.LimitOutput, Which: sandbox.MeasureOutput, Allowed: w.meter.Limit, Measured: w.meter.Limit + over,
		Detail: fmt.Sprintf("more than %d bytes of output", w.meter.Limit),
	}
}

// Tail keeps the last bytes written to it.
type Tail struct {
	mu   sync.Mutex
	kept []byte
	Max  int // bytes kept
}

// Write implements io.Writer; it never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	p = p[max(0, n-t.Max):]
	over := max(0, len(t.kept)+len(p)-t.Max)
	t.kept = append(t.kept[:copy(t.kept, t.kept[over:])], p...)
	return n, nil
}

// String is the text kept, safe for a terminal: one line, without control characters.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(t.kept), "\ufffd"))
	return strings.TrimSpace(text)
}
