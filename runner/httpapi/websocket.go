package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/tail"
)

const (
	// streamProtocol is the sub-protocol of streams.
	streamProtocol = "sandboxrun.v1"
	// maxFrame bounds a message of a reader, in bytes; none is needed.
	maxFrame = 4 << 10
	// wsPing is the pause between two pings; a reader that does not answer before the next is gone.
	wsPing = 20 * time.Second
	// closeBound is how long a reader may take to answer that its stream is closed, and stopClose the same while the
	// server stops.
	closeBound = 5 * time.Second
	stopClose  = 500 * time.Millisecond

	statusNotFound websocket.StatusCode = 4404
)

// serveWebSocket sends a run's events, one a message. A browser cannot see a status before the upgrade, so that an
// unknown run is told in a message.
func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request) error {
	dir, missing := s.run(r.Context(), r.PathValue("id"))
	from, err := readFrom(r)
	if err != nil {
		return err
	}
	if r.Header.Get("Upgrade") == "" {
		return problem.New(problem.CodeNotAcceptable, "this is a WebSocket")
	}
	var st *stream
	s.streams.Add(1)
	defer s.streams.Done()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // the request's own ends with the upgrade
	defer cancel()
	if missing == nil {
		if st, err = s.open(ctx, "websocket", dir, from); err != nil {
			return err
		}
		defer st.done()
	}
	c, err := acceptSocket(w, r)
	if err != nil {
		return nil // the library has answered
	}
	defer func() { _ = c.CloseNow() }() // closed already, or the reader is gone
	if missing != nil {
		p := problem.From(missing)
		text, _ := json.Marshal(struct { //nolint:errchkjson // strings always marshal
			Error document.ErrorBody `json:"error"`
		}{p.Body})
		if err := c.Write(ctx, websocket.MessageText, text); err == nil {
			closeWithin(c, closeBound, statusNotFound, "not found")
		}
		return nil
	}
	c.SetReadLimit(maxFrame)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer cancel()
		for {
			if _, _, err := c.Read(ctx); err != nil {
				return // answers to pings are handled inside; anything else ends the stream
			}
		}
	}()
	out := &wsWriter{c: c, st: st}
	err = st.tail.Read(st.ctx, from, wsPing, out.piece)
	out.release()
	switch st.closed(err) {
	case closedEnd:
		closeWithin(c, closeBound, websocket.StatusNormalClosure, "")
	case closedStopping:
		closeWithin(c, stopClose, websocket.StatusServiceRestart, "stopping")
	case closedSlow:
		closeWithin(c, stopClose, websocket.StatusPolicyViolation, "too slow")
	}
	_ = c.CloseNow()
	<-gone
	return nil
}

// closeWithin says goodbye; a reader that does not answer is cut off.
func closeWithin(c *websocket.Conn, bound time.Duration, code websocket.StatusCode, reason string) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = c.Close(code, reason) // the reader may be gone
	}()
	select {
	case <-closed:
	case <-time.After(bound):
		_ = c.CloseNow()
		<-closed
	}
}

type wsWriter struct {
	c      *websocket.Conn
	st     *stream
	waited bool
	seq    int64
	// The message that a line of several pieces goes into, and the end of its time limit.
	long   io.WriteCloser
	cancel context.CancelFunc
}

func (o *wsWriter) piece(p tail.Piece) error {
	if p.CaughtUp {
		if !o.waited {
			o.waited = true
			o.st.delivered(o.seq)
			return nil
		}
		ctx, cancel := context.WithTimeout(o.st.ctx, wsPing)
		defer cancel()
		return ended(o.st.ctx, o.c.Ping(ctx))
	}
	o.waited, o.seq = false, p.Seq
	if p.Begin && p.End {
		ctx, cancel := o.st.server.writing(o.st.ctx)
		defer cancel()
		return ended(o.st.ctx, o.c.Write(ctx, websocket.MessageText, p.Data))
	}
	return ended(o.st.ctx, o.part(p))
}

// part sends a long line piece by piece, so that a slow reader holds one piece in memory.
func (o *wsWriter) part(p tail.Piece) (err error) {
	if p.Begin {
		var ctx context.Context
		ctx, o.cancel = o.st.server.writing(o.st.ctx)
		if o.long, err = o.c.Writer(ctx, websocket.MessageText); err != nil {
			return err
		}
	}
	if _, err := o.long.Write(p.Data); err != nil || !p.End {
		return err
	}
	defer o.release()
	return o.long.Close()
}

// open reports whether a long line was begun and not ended.
func (o *wsWriter) open() bool { return o.cancel != nil }

// release ends the time limit of a long line.
func (o *wsWriter) release() {
	if o.cancel != nil {
		o.cancel()
		o.cancel = nil
	}
}

// ended prefers the reason why the whole stream ended.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return err
}

// acceptSocket makes a WebSocket of a request. Where it cannot, the library has answered.
func acceptSocket(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	return websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{streamProtocol},
		InsecureSkipVerify: true, // the guard has compared the origin, more strictly
		CompressionMode:    websocket.CompressionDisabled,
	})
}
