package httpapi

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"sandboxrun/runner/tail"
)

// serveSSE sends a run's events as server-sent events: replay from a number, then live, then the end as an event of its own.
func (s *Server) serveSSE(w http.ResponseWriter, r *http.Request) error {
	dir, err := s.run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	from, err := readFrom(r)
	if err != nil {
		return err
	}
	if over, err := nothingFollows(dir, from); err != nil {
		return err
	} else if over && from > 1 {
		w.WriteHeader(http.StatusNoContent) // tells a browser's EventSource not to come again
		return nil
	}
	st, err := s.open(r.Context(), "sse", dir, from)
	if err != nil {
		return err
	}
	defer st.done()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	out := &sseWriter{w: w, slow: s.slow, control: http.NewResponseController(w)}
	out.text("retry: 1000\n\n")
	err = st.tail.Read(st.ctx, from, pingEvery, func(p tail.Piece) error { return out.piece(st, p) })
	switch st.closed(err) {
	case closedEnd:
		out.message("end", st.end())
	case closedStopping:
		out.message("stopping", struct{}{})
	}
	return nil
}

// sseWriter writes events and remembers the first failure.
type sseWriter struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	slow     time.Duration // a reader may take no byte for so long
	extended time.Time
	caught   bool
	waited   bool // since the last event
	seq      int64
	err      error
}

func (o *sseWriter) piece(st *stream, p tail.Piece) error {
	switch {
	case p.CaughtUp && !o.caught:
		o.caught, o.waited = true, true
		o.text("event: caught_up\ndata: {}\n\n")
		o.flush()
	case p.CaughtUp && o.waited:
		o.text(": ping\n\n")
		o.flush()
	case p.CaughtUp:
		o.waited = true
		o.flush()
		if o.err == nil {
			st.delivered(o.seq)
		}
	default:
		o.waited, o.seq = false, p.Seq
		if p.Begin {
			o.text("id: " + strconv.FormatInt(p.Seq, 10) + "\ndata: ")
		}
		o.write(p.Data)
		if p.End {
			o.text("\n\n")
		}
	}
	return o.err
}

// message writes a message that is no event of the run: it has a name and no number.
func (o *sseWriter) message(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		return // two words always marshal
	}
	o.text("event: " + name + "\ndata: " + string(text) + "\n\n")
	o.flush()
}

func (o *sseWriter) text(text string) {
	o.extend()
	if o.err == nil {
		_, o.err = io.WriteString(o.w, text)
	}
}

// extend gives the reader time again. Doing so for every write would cost more than the writes.
func (o *sseWriter) extend() {
	if now := time.Now(); now.Sub(o.extended) > o.slow/10 {
		o.extended = now
		_ = o.control.SetWriteDeadline(now.Add(o.slow))
	}
}

func (o *sseWriter) write(b []byte) {
	o.extend()
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
}

func (o *sseWriter) flush() {
	if o.err == nil {
		o.err = o.control.Flush()
	}
}
