// Package tail follows journals of events for any number of readers: one follower a journal finds complete lines, and
// readers get the journal's own bytes at their own pace.
package tail

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"
)

const (
	// maxLine bounds a line of a journal in bytes, newline included; its writer keeps to it.
	maxLine = 1 << 20
	// markEvery is how many events lie between two marks of the index.
	markEvery = 256
	// maxRecent bounds the newest bytes that are kept in memory for readers that have caught up.
	maxRecent = 1 << 20
	// scanSize is how much is read at once while complete lines are looked for, in bytes.
	scanSize = 256 << 10
)

// mark is where an event begins.
type mark struct{ seq, offset int64 }

// Tail is one journal and what is known of it. It is safe for concurrent use.
type Tail struct {
	path string

	mu      sync.RWMutex
	file    *os.File // nil until the journal is there
	size    int64    // bytes of complete lines
	seq     int64    // of the last complete line
	kind    string   // of the last complete line
	marks   []mark
	recent  []byte // the last bytes of the complete lines
	grown   time.Time
	changed chan struct{} // closed and replaced when there is more, or the end is known
	over    bool          // nothing will follow
	err     error         // why the journal cannot be read, nil while it can

	// Only the follower uses these.
	part []byte // beginning of a line whose end is not there yet
	buf  []byte
}

func newTail(path string) *Tail { return &Tail{path: path, changed: make(chan struct{})} }

// LastEvent is the kind of a run's last event.
const LastEvent = "run_ended"

// scan takes in what was appended since the last call. It reports whether there was anything.
func (t *Tail) scan() (more bool) {
	if t.file == nil {
		f, err := os.Open(t.path)
		if errors.Is(err, fs.ErrNotExist) {
			return false // the run has not begun to write
		}
		t.mu.Lock()
		t.file, t.err = f, err
		t.mu.Unlock()
		if err != nil {
			t.wake()
			return false
		}
	}
	if t.buf == nil {
		t.buf = make([]byte, scanSize)
	}
	// What was read of an incomplete line may have been cut off and written anew.
	t.part = t.part[:0]
	for at := t.size; ; {
		n, err := t.file.ReadAt(t.buf, at)
		at += int64(n)
		taken, sound := t.take(t.buf[:n])
		more = more || taken
		if taken {
			t.wake()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			t.fail(err)
		}
		if n < len(t.buf) || err != nil || !sound || t.failed() {
			return more
		}
	}
}

// take adds complete lines. What follows the last newline waits for its end. sound is false at a line that is no event:
// garbage after a crash of the machine, which whoever settles the run cuts off.
func (t *Tail) take(data []byte) (more, sound bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(data) > 0 && t.err == nil {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			if len(t.part)+len(data) > maxLine {
				t.err = errLong
				return more, true
			}
			t.part = append(t.part, data...)
			return more, true
		}
		line := data[:end+1]
		data = data[end+1:]
		if len(t.part) > 0 {
			line = append(t.part, line...)
		}
		seq, kind, ok := head(line)
		if !ok || seq <= t.seq {
			return more, false
		}
		if len(t.marks) == 0 || seq-t.marks[len(t.marks)-1].seq >= markEvery {
			t.marks = append(t.marks, mark{seq, t.size})
		}
		t.seq, t.kind, t.size = seq, kind, t.size+int64(len(line))
		t.remember(line)
		t.part = t.part[:0]
		more = true
	}
	return more, true
}

var errLong = errors.New("the journal has a line that is too long")

// remember keeps the newest bytes.
func (t *Tail) remember(line []byte) {
	if len(t.recent)+len(line) > 2*maxRecent {
		keep := t.recent[max(0, len(t.recent)-maxRecent+len(line)):]
		t.recent = append(t.recent[:0], keep...)
	}
	t.recent = append(t.recent, line...)
}

// head reads number and kind of an event from the beginning of its line. The writer puts them, and nothing that a box
// wrote, before the data.
func head(line []byte) (seq int64, kind string, ok bool) {
	start := line[:min(len(line), 512)]
	number, found := bytes.CutPrefix(start, []byte(`{"seq":`))
	end := bytes.IndexByte(number, ',')
	_, rest, hasKind := bytes.Cut(start, []byte(`,"kind":"`))
	quote := bytes.IndexByte(rest, '"')
	if found && end > 0 && hasKind && quote > 0 {
		if n, err := strconv.ParseInt(string(number[:end]), 10, 64); err == nil && n > 0 {
			return n, string(rest[:quote]), true
		}
	}
	var e struct {
		Seq  int64  `json:"seq"`
		Kind string `json:"kind"`
	}
	if json.Unmarshal(line, &e) != nil || e.Seq < 1 || e.Kind == "" {
		return 0, "", false
	}
	return e.Seq, e.Kind, true
}

func (t *Tail) wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.grown = time.Now()
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *Tail) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
}

func (t *Tail) failed() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.err != nil
}

// finish says that nothing will follow.
func (t *Tail) finish() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.wake()
}

// ended reports whether the run's last event is there.
func (t *Tail) ended() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.kind == LastEvent
}

// readAt copies complete lines from offset on into buf. It returns 0 where there is nothing more yet, and then the
// channel that closes when there is.
func (t *Tail) readAt(buf []byte, offset int64) (n int, changed <-chan struct{}, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	have := t.size - offset
	switch {
	case have <= 0 && t.err != nil:
		return 0, nil, t.err
	case have <= 0 && (t.over || t.kind == LastEvent):
		return 0, nil, io.EOF
	case have <= 0:
		return 0, t.changed, nil
	}
	buf = buf[:min(int64(len(buf)), have)]
	if have <= int64(len(t.recent)) {
		return copy(buf, t.recent[int64(len(t.recent))-have:]), nil, nil
	}
	n, err = t.file.ReadAt(buf, offset)
	if n == len(buf) {
		err = nil
	}
	return n, nil, err
}

// before returns the mark nearest before an event.
func (t *Tail) before(seq int64) mark {
	t.mu.RLock()
	defer t.mu.RUnlock()
	low, high := 0, len(t.marks)
	for low < high {
		if mid := (low + high) / 2; t.marks[mid].seq <= seq {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return mark{seq: 1}
	}
	return t.marks[low-1]
}

// Last is the number of the newest complete event, 0 before the first, and when it was found.
func (t *Tail) Last() (seq int64, at time.Time) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.seq, t.grown
}

// Snapshot reads a journal as it is now, without following it. The returned function closes it.
func Snapshot(path string) (*Tail, func(), error) {
	t := newTail(path)
	t.scan()
	t.finish()
	if t.err != nil {
		return nil, nil, errors.Join(t.err, t.close())
	}
	return t, func() { _ = t.close() }, nil // nothing was written
}

func (t *Tail) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}
