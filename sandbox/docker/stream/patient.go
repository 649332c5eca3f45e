package stream

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// lingerTimes is how many times the silence a chatty orphan is listened to.
const lingerTimes = 10

// ErrLeft ends reading from a stream whose process has ended.
var ErrLeft = errors.New("stream left after the end of its process")

// PatientReader reads from a connection for as long as it takes, until it is
// told that the process behind it has ended; then only until it falls silent.
// Silence is measured while reading, so that a slow receiver loses nothing.
type PatientReader struct {
	conn   net.Conn
	from   io.Reader // buffers conn
	linger time.Duration

	mu   sync.Mutex
	last time.Time // when to leave at the latest; zero while the process runs
}

// NewPatientReader reads conn by way of from, which buffers it. linger is the
// silence after which a stream is left once its process has ended.
func NewPatientReader(conn net.Conn, from io.Reader, linger time.Duration) *PatientReader {
	return &PatientReader{conn: conn, from: from, linger: linger}
}

// LeaveWhenSilent says that the process has ended.
func (r *PatientReader) LeaveWhenSilent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.IsZero() {
		now := time.Now()
		r.last = now.Add(lingerTimes * r.linger)
		// A connection that cannot have a deadline is closed by the engine.
		_ = r.conn.SetReadDeadline(now.Add(r.linger))
	}
}

// Left reports whether leaveWhenSilent was called.
func (r *PatientReader) Left() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.last.IsZero()
}

// Read implements io.Reader; it fails with errLeft when the stream is left.
func (r *PatientReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	if !r.last.IsZero() {
		until := time.Now().Add(r.linger)
		if until.After(r.last) {
			until = r.last
		}
		_ = r.conn.SetReadDeadline(until)
	}
	r.mu.Unlock()
	n, err := r.from.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrLeft
	}
	return n, err
}
