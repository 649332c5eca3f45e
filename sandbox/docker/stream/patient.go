package stream

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// lingerTimes bounds how long a writing orphan is read, as a multiple of linger.
const lingerTimes = 10

// ErrLeft ends the reading of a stream whose process has ended.
var ErrLeft = errors.New("stream closed after the end of its process")

// PatientReader reads from a connection without a time limit until LeaveWhenSilent reports the end of the process;
// then only until the stream is silent. Silence is measured while reading, so that a slow receiver loses nothing.
type PatientReader struct {
	conn   net.Conn
	from   io.Reader // buffers conn
	linger time.Duration

	mu   sync.Mutex
	last time.Time // when reading stops at the latest; zero while the process runs
}

// NewPatientReader reads conn through from, which buffers it. linger is the silence after which reading stops once the
// process has ended.
func NewPatientReader(conn net.Conn, from io.Reader, linger time.Duration) *PatientReader {
	return &PatientReader{conn: conn, from: from, linger: linger}
}

// LeaveWhenSilent reports that the process has ended.
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

// Left reports whether LeaveWhenSilent was called.
func (r *PatientReader) Left() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.last.IsZero()
}

// Read implements io.Reader; it fails with ErrLeft when the process has ended and the stream is silent.
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
