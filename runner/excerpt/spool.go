package excerpt

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"sandboxrun/internal/redact"
)

const (
	// MaxLog bounds the log of one stream, in bytes.
	MaxLog = 64 << 20
	// excerptHead and excerptTail are what an excerpt keeps, in bytes.
	excerptHead = 8 << 10
	excerptTail = 8 << 10
)

// Spool takes one stream of hostile output: the whole goes to a log file up to
// a quota, and the beginning and the end are kept for an excerpt. A disk that
// does not take it any more does not disturb the command. Memory is bounded
// whatever is written. It is safe for concurrent use.
type Spool struct {
	mu    sync.Mutex
	path  string
	file  *os.File
	quota int64
	total int64 // bytes that came
	kept  int64 // bytes in the file
	head  []byte
	tail  ring
	err   error // why the file ends early
	// secrets is what everything passes through: from there on nothing knows
	// what was replaced, the counts included.
	secrets *redact.Stream
}

// NewSpool creates the log file, which must not exist. quota bounds it, in bytes;
// secrets is what it must not hold and may be nil.
func NewSpool(path string, quota int64, secrets *redact.Redactor) (*Spool, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return &Spool{path: path, file: f, quota: quota, secrets: secrets.Stream()}, nil
}

// Write takes everything and never fails.
func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(s.secrets.Next(p))
	return len(p), nil
}

func (s *Spool) take(p []byte) {
	n := len(p)
	s.total += int64(n)
	s.store(p[:min(int64(n), s.quota-s.kept)])
	if room := excerptHead - len(s.head); room > 0 {
		taken := min(room, n)
		s.head = append(s.head, p[:taken]...)
		p = p[taken:]
	}
	s.tail.write(p)
}

func (s *Spool) store(p []byte) {
	if s.err != nil || s.file == nil || len(p) == 0 {
		return
	}
	n, err := s.file.Write(p)
	s.kept += int64(n)
	s.err = err
}

// Close closes the log file. It is idempotent. Its error is why the log is
// shorter than the output although the quota would have allowed it.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return s.err
	}
	s.take(s.secrets.Rest())
	err := errors.Join(s.err, s.file.Close())
	s.file = nil
	if err != nil {
		s.err = fmt.Errorf("write log: %w", err)
	}
	return s.err
}

// Path is the log file's.
func (s *Spool) Path() string { return s.path }

// Truncated says that the excerpt is shorter than the output.
func (s *Spool) Truncated() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total > int64(len(s.head)+s.tail.len())
}

// Excerpt is the beginning and the end of the output, as valid UTF-8, with a
// marker of how much was left out in between.
func (s *Spool) Excerpt() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	tail := s.tail.bytes()
	omitted := s.total - int64(len(s.head)+len(tail))
	if omitted == 0 {
		return HeadTail(string(s.head)+string(tail), excerptHead+excerptTail)
	}
	return join(string(s.head), string(tail), omitted)
}

// ring keeps the last excerptTail bytes written to it.
type ring struct {
	buf []byte
	at  int // where the oldest byte is, once buf is full
}

func (r *ring) write(p []byte) {
	if len(p) >= excerptTail {
		r.buf, r.at = append(r.buf[:0], p[len(p)-excerptTail:]...), 0
		return
	}
	if room := excerptTail - len(r.buf); room > 0 {
		n := min(room, len(p))
		r.buf, p = append(r.buf, p[:n]...), p[n:]
	}
	for len(p) > 0 {
		n := copy(r.buf[r.at:], p)
		p, r.at = p[n:], (r.at+n)%excerptTail
	}
}

func (r *ring) len() int { return len(r.buf) }

// bytes are in the order they were written.
func (r *ring) bytes() []byte {
	return append(append(make([]byte, 0, len(r.buf)), r.buf[r.at:]...), r.buf[:r.at]...)
}
