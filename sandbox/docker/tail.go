package docker

import (
	"strings"
	"sync"
	"unicode"
)

// tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
	max  int
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	p = p[max(0, n-t.max):]
	over := max(0, len(t.kept)+len(p)-t.max)
	t.kept = append(t.kept[:copy(t.kept, t.kept[over:])], p...)
	return n, nil
}

// String is the text kept, fit for a terminal: one line, without controls.
func (t *tail) String() string {
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
