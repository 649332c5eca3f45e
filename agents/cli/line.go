package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxLine is how long one line of an agent's output may be, in bytes. Claude
// Code's handshake is 18 kB and its tool results reach megabytes.
const MaxLine = 4 << 20

// Line is one line of an agent's output, or the size of one that was too long.
type Line struct {
	Text    []byte // valid UTF-8 without the line ending; nil when dropped
	Dropped int64  // bytes of a line that was left out
}

// LineReader reads lines of bounded length from a stream that is not trusted.
// After a line that is too long it goes on with the next one; memory stays
// within the bound however long a line is.
type LineReader struct {
	r   *bufio.Reader
	max int
}

// NewLineReader reads lines of at most limit bytes from r.
func NewLineReader(r io.Reader, limit int) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, 64<<10), max: limit}
}

// Next returns the next line that is not empty, and io.EOF after the last. A
// last line without an ending counts.
func (l *LineReader) Next() (Line, error) {
	for {
		text, dropped, err := l.read()
		switch {
		case dropped > 0:
			return Line{Dropped: dropped}, nil
		case len(text) > 0:
			return Line{Text: ValidUTF8(text)}, nil
		case err != nil:
			return Line{}, err
		}
	}
}

// read returns one raw line without its ending, or how long it was.
func (l *LineReader) read() (text []byte, dropped int64, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case dropped > 0:
			dropped += int64(len(part))
		case len(text)+len(part) > l.max+1: // 1 for the ending
			dropped = int64(len(text) + len(part))
			text = nil
		default:
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(text, "\r\n"), dropped, err
		}
	}
}

// ValidUTF8 makes text valid UTF-8, so that whatever is built from it is valid JSON.
func ValidUTF8(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte(string(utf8.RuneError)))
}

// Tail is a writer that keeps the end of what is written to it.
type Tail struct {
	mu  sync.Mutex
	max int
	buf []byte
	cut bool
}

// NewTail returns a writer that keeps the last limit bytes.
func NewTail(limit int) *Tail { return &Tail{max: limit} }

// Write keeps the last max bytes. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
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
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(strings.ToValidUTF8(string(t.buf), "\uFFFD"))
	if t.cut {
		s = "…" + s
	}
	return s
}

// Head is the start of s in at most limit bytes, marked where it was cut.
func Head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
