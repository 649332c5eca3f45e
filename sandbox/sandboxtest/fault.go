package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// dripGap is the pause between two bytes of an answer that drips.
const dripGap = 100 * time.Millisecond

// tornAfter is how many bytes of an answer are sent before it is torn: less than the header of one frame of a stream.
const tornAfter = 5

// faultKey is the context key of a request's fault.
type faultKey struct{}

// unheard answers a request that must not reach the engine.
func (p *FaultProxy) unheard(f Fault, w http.ResponseWriter, r *http.Request) bool {
	switch f {
	case Refused:
		panic(http.ErrAbortHandler) // closes the connection without an answer
	case Deaf:
		p.hold(r)
		panic(http.ErrAbortHandler)
	case Failing, Missing, Conflict:
		status, _ := strconv.Atoi(string(f))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"message":"injected fault"}`) // the client may be gone
		return true
	default:
		return false
	}
}

// hold waits until the client gives up or the faults are healed.
func (p *FaultProxy) hold(r *http.Request) {
	for {
		p.mu.Lock()
		healed, change := p.faults == nil, p.change
		p.mu.Unlock()
		if healed {
			return
		}
		select {
		case <-change:
		case <-r.Context().Done():
			return
		}
	}
}

// errInjected ends an answer.
var errInjected = errors.New("injected fault")

// spoil changes the engine's answer according to the request's fault.
func (p *FaultProxy) spoil(r *http.Response) error {
	f, _ := r.Request.Context().Value(faultKey{}).(Fault)
	stream := r.StatusCode == http.StatusSwitchingProtocols
	switch f {
	case Lost, Silent:
		if f == Silent {
			p.hold(r.Request)
		}
		_ = r.Body.Close() // no client reads it
		panic(http.ErrAbortHandler)
	case Dripping:
		r.Body = &spoiled{ReadCloser: r.Body, most: 1, pause: func() { p.drip(r.Request) }, left: -1}
	case Torn:
		r.Body = &spoiled{ReadCloser: r.Body, left: tornAfter, end: errInjected}
	case Ended:
		if stream {
			r.Body = &spoiled{ReadCloser: r.Body, left: tornAfter, end: io.EOF}
			return nil
		}
		return replace(r, func(b []byte) []byte { return b[:len(b)/2] })
	case Garbage, Misframed:
		const noise = "<html>\x07\x07\x07\x07 no frame of a stream, and no JSON either </html>"
		if stream || f == Misframed {
			r.Body = &spoiled{ReadCloser: r.Body, first: []byte(noise), left: -1}
			r.Header.Del("Content-Length")
			r.ContentLength = -1
			return nil
		}
		return replace(r, func([]byte) []byte { return []byte(noise) })
	case Empty:
		if stream {
			r.Body = &spoiled{ReadCloser: r.Body, end: io.EOF}
			return nil
		}
		r.Header.Del("Api-Version")
		return replace(r, func([]byte) []byte { return []byte("{}") })
	default:
	}
	return nil
}

// drip pauses between two bytes, until the fault is healed.
func (p *FaultProxy) drip(r *http.Request) {
	p.mu.Lock()
	healed, change := p.faults == nil, p.change
	p.mu.Unlock()
	if healed {
		return
	}
	select {
	case <-time.After(dripGap):
	case <-change:
	case <-r.Context().Done():
	}
}

// maxReplaced is far above the size of an engine's single documents.
const maxReplaced = 4 << 20

// replace substitutes the document of an answer. An answer without an end, like the engine's events, is replaced
// without being read.
func replace(r *http.Response, by func([]byte) []byte) error {
	var body []byte
	if Route(r.Request) != "GET /events" {
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxReplaced)); err != nil {
			return fmt.Errorf("read the engine's answer: %w", err)
		}
	}
	if err := r.Body.Close(); err != nil {
		return fmt.Errorf("close the engine's answer: %w", err)
	}
	if r.StatusCode != http.StatusNoContent {
		body = by(body)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// spoiled is a body with a fault. A body that is a stream in both directions stays one.
type spoiled struct {
	io.ReadCloser
	first []byte // sent before the body
	most  int    // bytes per Read, 0 for any number
	pause func() // before each Read, nil for none
	left  int    // bytes before the end, -1 for all
	end   error
}

func (s *spoiled) Read(b []byte) (int, error) {
	if len(s.first) > 0 {
		n := copy(b, s.first)
		s.first = s.first[n:]
		return n, nil
	}
	if s.left == 0 {
		return 0, s.end
	}
	if s.pause != nil {
		s.pause()
	}
	if s.most > 0 {
		b = b[:min(len(b), s.most)]
	}
	if s.left > 0 {
		b = b[:min(len(b), s.left)]
	}
	n, err := s.ReadCloser.Read(b)
	if s.left > 0 {
		s.left -= n
	}
	return n, err
}

// CloseWrite passes on the end of the other direction.
func (s *spoiled) CloseWrite() error {
	if half, ok := s.ReadCloser.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (s *spoiled) Write(b []byte) (int, error) {
	if w, ok := s.ReadCloser.(io.Writer); ok {
		return w.Write(b)
	}
	return 0, errInjected
}
