package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

var errTooLong = errors.New("recording is too long")

// Recorder notes what passes through the boxes and connections it is put around.
type Recorder struct {
	mask   *strings.Replacer
	cuts   []string
	began  time.Time
	mu     sync.Mutex
	list   []Entry
	bytes  int
	execs  int
	calls  int
	err    error
	fronts []*front
}

// Record starts a recording. Pairs of strings replace what differs from one
// recording to the next, such as the port of a server: each first by its second,
// in all that is noted. What passes through is not changed.
func Record(mask ...string) *Recorder {
	began := time.Now().UTC().Truncate(time.Millisecond)
	return &Recorder{mask: strings.NewReplacer(mask...), began: began, list: []Entry{{Began: &began}}}
}

// Cut leaves lists of these names out of the agent's frames where they are longer
// than 1 KiB. It is for what no adapter reads; the mark that is left says so.
func (r *Recorder) Cut(names ...string) { r.cuts = append(r.cuts, names...) }

// Mark notes that something happened outside, such as a cancelled context.
func (r *Recorder) Mark(name string) { r.note(Entry{Mark: name}, nil) }

// Entries is what was noted so far. The error says that something is missing.
func (r *Recorder) Entries() ([]Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list), r.err
}

// Close ends the connections and waits for all that serves them.
func (r *Recorder) Close() error {
	r.mu.Lock()
	fronts := r.fronts
	r.mu.Unlock()
	var errs []error
	for _, f := range fronts {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// note adds an entry with text, if that is not nil.
func (r *Recorder) note(e Entry, text []byte) {
	if text != nil {
		if e.From == Agent {
			text = cutLists(text, r.cuts)
		}
		masked := []byte(r.mask.Replace(string(text)))
		if len(masked) > maxEntry {
			r.fail(fmt.Errorf("%w: a line of %d bytes", errTooLong, len(masked)))
			return
		}
		e = e.say(masked)
	}
	for i := range e.Argv {
		e.Argv[i] = r.mask.Replace(e.Argv[i])
	}
	e.Path = r.mask.Replace(e.Path)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes += len(text); r.bytes > maxTranscript {
		r.err = errors.Join(r.err, errTooLong)
		return
	}
	if e.From != Host {
		e.At = time.Since(r.began).Milliseconds()
	}
	r.list = append(r.list, e)
}

func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// next counts with one of the recorder's counters.
func (r *Recorder) next(counter *int) *int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := *counter
	*counter++
	return &n
}

// cutAbove is the length in bytes up to which a list stays as it is.
const cutAbove = 1 << 10

// cutMark stands alone in a list that a recorder has cut.
const cutMark = `["cut from the recording"]`

// cutLists empties the long lists of these names in a frame of JSON. Their other
// bytes stay as they are, for adapters are given exact ones.
func cutLists(frame []byte, names []string) []byte {
	for _, name := range names {
		key := []byte(`"` + name + `":[`)
		for from := 0; ; {
			i := bytes.Index(frame[from:], key)
			if i < 0 {
				break
			}
			from += i + len(key) - 1
			var list json.RawMessage
			if json.NewDecoder(bytes.NewReader(frame[from:])).Decode(&list) != nil || len(list) <= cutAbove {
				continue
			}
			frame = append(append(bytes.Clone(frame[:from]), cutMark...), frame[from+len(list):]...)
			from += len(cutMark)
		}
	}
	return frame
}
