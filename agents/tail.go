package agents

import (
	"strings"
	"sync"
)

// tail is a writer that keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	max int
	buf []byte
	cut bool
}

// Write keeps the last max bytes. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if n > t.max {
		p = p[n-t.max:]
		t.cut = true
	}
	if over := len(t.buf) + len(p) - t.max; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// String is what was kept, as valid UTF-8 without outer white space.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(strings.ToValidUTF8(string(t.buf), "\uFFFD"))
	if t.cut {
		s = "…" + s
	}
	return s
}

// head is the start of s in at most limit bytes, marked where it was cut.
func head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
