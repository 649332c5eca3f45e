package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"encoding/json"

	"github.com/google/go-cmp/cmp"
)

const (
	// maxPending bounds how much of the host's words waits for the recording.
	maxPending = 1000
	// hostPatience is how long the host may take to say what is recorded, on the
	// bubble's clock; every limit of an adapter is shorter.
	hostPatience = time.Hour
)

// Player plays the agent's side of a transcript: it is a box whose processes, and
// a server whose answers, come from there. An entry of the agent is played once
// the host has said all that stands above it. A host that says something else
// ends the play.
type Player struct {
	began time.Time
	mark  func(name string)
	heard chan heard
	ended chan struct{} // closed when nothing more is played
	group sync.WaitGroup

	// These belong to the goroutine of run.
	pending []heard
	execs   []*playedExec
	calls   map[int]*playedCall
	chance  *chance

	mu     sync.Mutex
	err    error
	fronts []*front
}

// settle waits until it is time for an entry, and until the host waits for it.
func (p *Player) settle(e Entry) {
	time.Sleep(time.Until(p.began.Add(time.Duration(e.At) * time.Millisecond))) //nolint:forbidigo // by the bubble's clock, which costs no time
	synctest.Wait()
}

// same compares what the host said with the recording.
func (p *Player) same(e Entry, h heard) error {
	p.chance.bind(e.text(), h.text)
	h.text = p.chance.toRecorded(h.text)
	return same(e, h)
}

// fail ends the play. The first reason stays.
func (p *Player) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.ended:
		if p.err == nil {
			p.err = err
		}
	default:
		p.err = err
		close(p.ended)
	}
}

// await returns the first thing the host says that is wanted.
func (p *Player) await(e Entry, wanted func(heard) bool) (heard, error) {
	late := time.NewTimer(hostPatience)
	defer late.Stop()
	for i, over := 0, false; ; {
		for ; i < len(p.pending); i++ {
			if h := p.pending[i]; wanted(h) {
				p.pending = append(p.pending[:i], p.pending[i+1:]...)
				return h, nil
			}
		}
		if len(p.pending) > maxPending {
			return heard{}, errors.New("the host says too much that is not in it")
		}
		if over {
			err := fmt.Errorf("the host never said: %s", show(e))
			for _, h := range p.pending {
				err = fmt.Errorf("%w\nit said: %s", err, h)
			}
			return heard{}, err
		}
		select {
		case h := <-p.heard:
			p.pending = append(p.pending, h)
		case <-late.C:
			over = true
		case <-p.ended:
			over = true
		}
	}
}

// heard is something the host said, or did.
type heard struct {
	exec *playedExec // of a process: it begins with argv
	call *playedCall // begins a request
	argv []string
	text []byte
	end  bool // of standard input
}

func (h heard) String() string {
	switch {
	case h.call != nil:
		return fmt.Sprintf("%s %s %s", h.call.method, h.call.path, cut(h.text))
	case h.argv != nil:
		return fmt.Sprintf("run %q", h.argv)
	case h.end:
		return "the end of its input"
	}
	return cut(h.text)
}

// same compares what the host said with the recording: JSON by its structure,
// anything else as it stands.
func same(e Entry, h heard) error {
	switch {
	case e.Argv != nil:
		if !slices.Equal(e.Argv, h.argv) {
			return fmt.Errorf("the host runs something else (-recorded +run):\n%s", cmp.Diff(e.Argv, h.argv))
		}
		return nil
	case (e.End == endInput) != h.end:
		return fmt.Errorf("recorded: %s\nthe host says: %s", show(e), h)
	case bytes.Equal(e.text(), h.text):
		return nil
	}
	want, ok := structure(e.text())
	got, also := structure(h.text)
	if !ok || !also {
		return fmt.Errorf("recorded: %s\nthe host says: %s", show(e), h)
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("the host says something else (-recorded +said):\n%s", cmp.Diff(want, got))
	}
	return nil
}

// maxShown bounds how much of a frame an error shows, in bytes.
const maxShown = 2000

// structure is the value of one document of JSON.
func structure(text []byte) (v any, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return v, dec.Decode(&v) == nil && !dec.More()
}

// show is an entry for people.
func show(e Entry) string {
	var b bytes.Buffer
	if err := Write(&b, []Entry{e}); err != nil {
		return err.Error()
	}
	return cut(bytes.TrimSpace(b.Bytes()))
}

func cut(b []byte) string {
	if len(b) > maxShown {
		return string(b[:maxShown]) + "…"
	}
	return string(b)
}
