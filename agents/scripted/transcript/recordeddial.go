package transcript

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"

	"sandboxrun/agents"
)

// eventStream is the media type of answers that are noted line by line.
const eventStream = "text/event-stream"

// Dial is dial with every HTTP request over it recorded. Headers are not noted:
// credentials live there. Answers keep their status and media type only.
func (r *Recorder) Dial(dial agents.Dial) agents.Dial {
	return func(ctx context.Context, port int) (net.Conn, error) {
		return r.front(dial, port).dial(ctx)
	}
}

// front makes a server for one connection to a port. Each connection has its
// own: what the host closes is closed behind it too.
func (r *Recorder) front(dial agents.Dial, port int) *front {
	behind := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, port) }}
	f := newFront(func(w http.ResponseWriter, req *http.Request) {
		defer behind.CloseIdleConnections()
		if !r.pass(w, req, behind, "127.0.0.1:"+strconv.Itoa(port)) {
			panic(http.ErrAbortHandler) // the host sees a broken connection, as it would have
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fronts = append(r.fronts, f)
	return f
}

// pass carries one request; false means that the connection broke.
func (r *Recorder) pass(w http.ResponseWriter, req *http.Request, behind http.RoundTripper, host string) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxEntry))
	if err != nil {
		r.fail(err)
		return false
	}
	n := r.next(&r.calls)
	var said []byte
	if len(body) > 0 {
		said = body
	}
	r.note(Entry{HTTP: n, From: Host, Method: req.Method, Path: req.URL.RequestURI()}, said)
	lost := func() bool {
		if req.Context().Err() == nil { // else it was the host that left
			r.note(Entry{HTTP: n, From: Agent, End: endLost}, nil)
		}
		return false
	}
	out := req.Clone(req.Context())
	out.RequestURI, out.URL.Scheme, out.URL.Host = "", "http", host
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp, err := behind.RoundTrip(out)
	if err != nil {
		return lost()
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	begin := Entry{HTTP: n, From: Agent, Status: resp.StatusCode, Type: kind}
	if kind != eventStream {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxTranscript))
		if err != nil {
			return lost()
		}
		if len(body) > 0 {
			said = body
		} else {
			said = nil
		}
		r.note(begin, said)
		answer(w, begin, body)
		return true
	}
	r.note(begin, nil)
	answer(w, begin, nil)
	if !r.passEvents(w, resp.Body, n) {
		return lost()
	}
	r.note(Entry{HTTP: n, From: Agent, End: endBody}, nil)
	return true
}

// passEvents passes the lines of a stream on; false means that it broke off.
func (r *Recorder) passEvents(w http.ResponseWriter, body io.Reader, n *int) bool {
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if text := bytes.TrimRight(line, "\r\n"); len(text) > 0 {
			r.note(Entry{HTTP: n, From: Agent}, text)
			event(w, text)
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// answer begins an answer as the entry says.
func answer(w http.ResponseWriter, e Entry, body []byte) {
	if e.Type != "" {
		w.Header().Set("Content-Type", e.Type)
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // the host may have left
	_ = http.NewResponseController(w).Flush()
}

// event writes one line of a stream, and the empty one that ends an event.
func event(w http.ResponseWriter, text []byte) {
	_, _ = w.Write(append(text, "\n\n"...))
	_ = http.NewResponseController(w).Flush()
}
