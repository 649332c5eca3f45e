package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/document"
	"sandboxrun/runner/feed"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/index"
	"sandboxrun/runner/tail"
	"sandboxrun/runner/view"
)

func (s *Server) changeRoutes() {
	s.plain(huma.Operation{Method: http.MethodGet, Path: "/api/events", OperationID: "streamChanges", Summary: "Follow the changes of all runs, of the queue and of what waits for a person",
		Description: "Server-sent events with names. snapshot comes first: all runs that have not ended and the newest that have, and what waits for a person. " +
			"Then run (a run as in the list, new or changed), removed ({run_id}) and approvals ({approvals}, without what exactly is asked). stopping says that the server stops. " +
			"A reader that is slow gets the newest state of each run; one that comes again begins with a snapshot.",
		Responses: map[string]*huma.Response{"200": {Description: "Changes.", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string"}}}}},
	}, s.serveChanges)
	s.plain(huma.Operation{Method: http.MethodGet, Path: "/api/stream/ws", OperationID: "streamMany", Summary: "Follow the changes of all runs, and the events of several, over one WebSocket",
		Description: "Messages {\"event\", \"data\"} are those of /api/events. The reader sends {\"subscribe\": RUN, \"from\": N} and {\"unsubscribe\": RUN}; the events of up to " +
			"20 runs come as they are in the journal, and messages {\"event\": \"caught_up\" | \"end\" | \"error\", \"run\", \"data\"} are about one run. Sub-protocol and closes as for one run.",
		Responses: map[string]*huma.Response{"101": {Description: "The connection is a WebSocket now."}}}, s.serveMany)
}

// newest lists the newest ended runs.
func (s *Server) newest(ctx context.Context, limit int) ([]view.RunView, error) {
	page, err := s.index.Page(ctx, index.Query{Limit: limit, State: view.Ended})
	return page.Runs, err
}

// serveChanges sends what changes as server-sent events.
func (s *Server) serveChanges(w http.ResponseWriter, r *http.Request) error {
	ctx, leave, err := s.admit(r.Context(), "changes")
	if err != nil {
		return err
	}
	defer leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	out := &sseWriter{w: w, slow: s.slow, control: http.NewResponseController(w)}
	out.text("retry: 1000\n\n")
	err = s.feed.Watch(ctx, pingEvery, func(c feed.Change) error {
		if c.Name == "" {
			out.text(": ping\n\n")
			out.flush()
		} else {
			out.message(c.Name, json.RawMessage(c.Data))
		}
		return out.err
	})
	if s.closed(ctx, err) == closedStopping {
		out.message("stopping", struct{}{})
	}
	return nil
}

// maxFollowed bounds the runs that one WebSocket follows.
const maxFollowed = 20

// many is a WebSocket that follows the changes of all runs and the events of some.
type many struct {
	server *Server
	c      *websocket.Conn
	ctx    context.Context
	fail   context.CancelCauseFunc

	mu       sync.Mutex
	followed map[string]context.CancelFunc
	running  sync.WaitGroup
}

// notice is a message that is no event of a run.
type notice struct {
	Event string `json:"event"`
	Run   string `json:"run,omitempty"`
	Data  any    `json:"data,omitempty"`
}

// wish is what a reader asks for.
type wish struct {
	Subscribe   string `json:"subscribe,omitempty"`
	From        int64  `json:"from,omitempty"`
	Unsubscribe string `json:"unsubscribe,omitempty"`
}

func (s *Server) serveMany(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("Upgrade") == "" {
		return problem.New(problem.CodeNotAcceptable, "this is a WebSocket")
	}
	s.streams.Add(1)
	defer s.streams.Done()
	ctx, leave, err := s.admit(context.WithoutCancel(r.Context()), "many") // the request's own ends with the upgrade
	if err != nil {
		return err
	}
	defer leave()
	c, err := acceptSocket(w, r)
	if err != nil {
		return nil // the library has answered
	}
	defer func() { _ = c.CloseNow() }() // closed already, or the reader is gone
	c.SetReadLimit(maxFrame)
	m := &many{server: s, c: c, followed: map[string]context.CancelFunc{}}
	m.ctx, m.fail = context.WithCancelCause(ctx)
	defer m.fail(nil)
	// Reading goes on while the connection is closed: its end would cut the connection off.
	reading, stop := context.WithCancel(context.WithoutCancel(r.Context()))
	defer stop()
	m.running.Go(func() { m.listen(reading) })
	err = s.feed.Watch(m.ctx, wsPing, func(change feed.Change) error {
		if change.Name != "" {
			return m.send(notice{Event: change.Name, Data: json.RawMessage(change.Data)})
		}
		ctx, cancel := context.WithTimeout(m.ctx, wsPing)
		defer cancel()
		return ended(m.ctx, c.Ping(ctx))
	})
	switch s.closed(m.ctx, err) {
	case closedStopping:
		closeWithin(c, stopClose, websocket.StatusServiceRestart, "stopping")
	case closedSlow:
		closeWithin(c, stopClose, websocket.StatusPolicyViolation, "too slow")
	}
	m.fail(nil)
	stop()
	_ = c.CloseNow()
	m.running.Wait()
	return nil
}

// send writes one message within the time a slow reader has.
func (m *many) send(n notice) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	ctx, cancel := m.server.writing(m.ctx)
	defer cancel()
	return ended(m.ctx, m.c.Write(ctx, websocket.MessageText, text))
}

// writing bounds one write. The library breaks a connection off whose write is cancelled, and a reader shall hear why
// the stream ends: after the end of ctx the write has a moment more.
func (s *Server) writing(ctx context.Context) (context.Context, context.CancelFunc) {
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.slow)
	stop := context.AfterFunc(ctx, func() {
		late := time.NewTimer(stopClose)
		defer late.Stop()
		select {
		case <-late.C:
			cancel()
		case <-write.Done():
		}
	})
	return write, func() {
		stop()
		cancel()
	}
}

// listen takes what the reader asks for, until the connection ends.
func (m *many) listen(ctx context.Context) {
	for {
		_, data, err := m.c.Read(ctx)
		if err == nil {
			err = m.take(data)
		}
		if err != nil {
			m.fail(err)
			return
		}
	}
}

func (m *many) take(data []byte) error {
	var w wish
	if err := decode(data, &w); err != nil {
		return m.refuse("", err)
	}
	switch {
	case (w.Subscribe == "") == (w.Unsubscribe == ""):
		return m.refuse("", problem.New(problem.CodeInvalid, "one of subscribe and unsubscribe names a run"))
	case w.Unsubscribe != "":
		m.mu.Lock()
		defer m.mu.Unlock()
		if stop := m.followed[w.Unsubscribe]; stop != nil {
			stop()
		}
		return nil
	}
	dir, err := m.server.run(m.ctx, w.Subscribe)
	if err == nil && w.From < 0 {
		err = problem.New(problem.CodeInvalid, "from is the number of an event, from 1")
	}
	if err != nil {
		return m.refuse(w.Subscribe, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.followed[w.Subscribe] != nil || len(m.followed) >= maxFollowed {
		return m.refuse(w.Subscribe, problem.New(problem.CodeTooManyRequests, "this run is followed already, or %d others are", maxFollowed))
	}
	ctx, stop := context.WithCancel(m.ctx)
	t, release, err := m.server.tails.Open(ctx, tail.Source{Path: dir.EventsPath(), Live: dir.Live})
	if err != nil {
		stop()
		return err
	}
	m.followed[w.Subscribe] = stop
	m.running.Go(func() {
		defer release()
		defer stop()
		m.follow(&stream{server: m.server, dir: dir, from: max(1, w.From), tail: t, ctx: ctx})
	})
	return nil
}

// follow sends the events of one run.
func (m *many) follow(st *stream) {
	run := st.dir.ID()
	// A message that is cut off ends the whole connection: messages end with the connection, not with the subscription.
	out := &wsWriter{c: m.c, st: &stream{server: m.server, dir: st.dir, tail: st.tail, ctx: m.ctx}}
	caught := false
	err := st.tail.Read(st.ctx, st.from, wsPing, func(p tail.Piece) error {
		if !p.CaughtUp {
			return out.piece(p)
		}
		if caught {
			return nil
		}
		caught = true
		return m.send(notice{Event: "caught_up", Run: run})
	})
	cut := out.open()
	out.release()
	m.mu.Lock()
	delete(m.followed, run)
	m.mu.Unlock()
	switch {
	case err == nil:
		err = m.send(notice{Event: "end", Run: run, Data: st.end()})
	case st.ctx.Err() != nil && m.ctx.Err() == nil && !cut:
		err = nil // the reader has had enough of this run
	}
	if err != nil {
		m.fail(err)
	}
}

// refuse tells a reader what cannot be done; the connection stays.
func (m *many) refuse(run string, err error) error {
	p := problem.From(err)
	if p.Body.Code == problem.CodeInternal {
		return errors.Join(err, p.Unwrap())
	}
	return m.send(notice{Event: "error", Run: run, Data: struct {
		Error document.ErrorBody `json:"error"`
	}{p.Body}})
}
