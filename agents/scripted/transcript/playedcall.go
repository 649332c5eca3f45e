package transcript

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
)

// playedCall is one request the host made.
type playedCall struct {
	method, path string
	answer       chan said
	returned     chan struct{} // closed when nobody waits for the answer
}

// said is an entry of an answer with its text as the host is to see it.
type said struct {
	Entry

	body []byte
}

// Dial is how the host reaches the agent's server in the recording, whatever
// the port.
func (p *Player) Dial(ctx context.Context, _ int) (net.Conn, error) {
	f := newFront(p.serve)
	p.mu.Lock()
	p.fronts = append(p.fronts, f)
	p.mu.Unlock()
	return f.dial(ctx)
}

// serve answers one request from the recording.
func (p *Player) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEntry))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	c := &playedCall{method: r.Method, path: r.URL.RequestURI(), answer: make(chan said), returned: make(chan struct{})}
	defer close(c.returned)
	if !p.hear(heard{call: c, text: body}) {
		panic(http.ErrAbortHandler)
	}
	for {
		select {
		case e := <-c.answer:
			switch {
			case e.Status != 0:
				answer(w, e.Entry, e.body)
				if e.Type != eventStream {
					return
				}
			case e.End == endBody:
				return
			case e.End != "":
				panic(http.ErrAbortHandler)
			default:
				event(w, e.body)
			}
		case <-r.Context().Done():
			return
		case <-p.ended:
			panic(http.ErrAbortHandler)
		}
	}
}

// expectCall waits for a request. Requests of one kind come in order, others as
// they like: the host makes them at the same time.
func (p *Player) expectCall(e Entry) error {
	h, err := p.await(e, func(h heard) bool { return h.call != nil && h.call.method == e.Method && h.call.path == e.Path })
	if err != nil {
		return err
	}
	p.calls[*e.HTTP] = h.call
	return p.same(e, h)
}

// sayCall plays an answer, or a part of one.
func (p *Player) sayCall(e Entry) error {
	c, ok := p.calls[*e.HTTP]
	if !ok {
		return errors.New("no such request")
	}
	select {
	case c.answer <- said{e, slices.Clone(p.chance.toLive(e.text()))}:
	case <-c.returned: // the host has left
	case <-p.ended:
	}
	return nil
}
