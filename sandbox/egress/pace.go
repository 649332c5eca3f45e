package egress

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"sandboxrun/sandbox/egress/tunnel"
)

var errBudget = errors.New("the request budget of this run is used up")

// pacedWriter gives each write its own deadline, so that a client that reads nothing does not hold its connection for
// ever. It drops interim responses: their headers are unfiltered.
type pacedWriter struct {
	http.ResponseWriter
	idle time.Duration
}

// Unwrap lets http.ResponseController find the writer below.
func (w pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends a final status.
func (w pacedWriter) WriteHeader(status int) {
	if status >= 200 {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w pacedWriter) Write(p []byte) (int, error) {
	if err := http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.idle)); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(p)
}

// pacedBody gives each read of a request body its own deadline. The deadline is removed at the end: the server keeps
// reading to notice a client that leaves.
type pacedBody struct {
	io.ReadCloser
	w    http.ResponseWriter
	idle time.Duration
}

func (b pacedBody) Read(p []byte) (int, error) {
	control := http.NewResponseController(b.w)
	if err := control.SetReadDeadline(time.Now().Add(b.idle)); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	if clearErr := control.SetReadDeadline(time.Time{}); err == nil {
		err = clearErr
	}
	return n, err
}

// meter counts the bytes of a body and fails the read that exceeds left.
type meter struct {
	body   io.ReadCloser
	left   int64
	shared *atomic.Int64 // a budget shared by several bodies; nil: none
	count  atomic.Int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.body.Read(p)
	// The budget first: it also counts bytes that a body's own limit refuses.
	if m.shared != nil && m.shared.Add(-int64(n)) < 0 {
		return 0, errBudget
	}
	if m.count.Add(int64(n)) > m.left {
		return 0, tunnel.ErrByteLimit
	}
	return n, err
}

// Close closes the body.
func (m *meter) Close() error { return m.body.Close() }
