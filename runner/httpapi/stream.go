package httpapi

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi/guard"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/state"
	"sandboxrun/runner/tail"
	"sandboxrun/runner/view"
)

const (
	// maxStreams bounds the open streams of the server.
	maxStreams = 1000
	// pingEvery is the pause between two signs of life on a stream without events.
	pingEvery = 15 * time.Second
	// slowBound is how long a reader may take no byte.
	slowBound = 60 * time.Second
	// settleBound is how long a stream waits for the result after the last event: it is written right after that.
	settleBound = 2 * time.Second
)

// Reasons for which a stream ends, as counted.
const (
	closedEnd      = "end"
	closedStopping = "stopping"
	closedGone     = "reader_gone"
	closedSlow     = "slow"
	closedFailed   = "failed"
)

var (
	errStopping = errors.New("the server is stopping")
	errRevoked  = errors.New("the page was signed out")
)

// stream is one reader of one run.
type stream struct {
	server *Server
	dir    *state.RunDir
	from   int64
	tail   *tail.Tail
	ctx    context.Context // ends when the reader leaves or the server stops
	done   func()
}

// admit counts a stream of a kind: sse, websocket, changes or many. The context ends with the reader or with the server.
func (s *Server) admit(ctx context.Context, kind string) (context.Context, func(), error) {
	if s.openStreams.Add(1) > maxStreams {
		s.openStreams.Add(-1)
		return nil, nil, problem.New(problem.CodeTooManyRequests, "%d streams are open", maxStreams)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s.metrics.streams.WithLabelValues(kind).Inc()
	var revoked <-chan struct{}
	if s.o.Pages != nil {
		revoked = s.o.Pages.Revoked(guard.Session(ctx))
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-s.stopping:
			cancel(errStopping)
		case <-revoked:
			cancel(errRevoked)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-watched
		s.metrics.streams.WithLabelValues(kind).Dec()
		s.openStreams.Add(-1)
	}, nil
}

// open counts a stream and begins to follow its run. kind is sse or websocket.
func (s *Server) open(ctx context.Context, kind string, dir *state.RunDir, from int64) (*stream, error) {
	ctx, leave, err := s.admit(ctx, kind)
	if err != nil {
		return nil, err
	}
	t, release, err := s.tails.Open(ctx, tail.Source{Path: dir.EventsPath(), Live: dir.Live})
	if err != nil {
		leave()
		return nil, problem.New(problem.CodeServerStopping, "the server is stopping")
	}
	return &stream{server: s, dir: dir, from: from, tail: t, ctx: ctx, done: func() {
		release()
		leave()
	}}, nil
}

// closed counts why a stream ended.
func (st *stream) closed(err error) (reason string) { return st.server.closed(st.ctx, err) }

func (s *Server) closed(ctx context.Context, err error) (reason string) {
	switch {
	case errors.Is(err, errStopping) || errors.Is(context.Cause(ctx), errStopping):
		reason = closedStopping
	case err == nil:
		reason = closedEnd
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		reason = closedSlow
	case ctx.Err() != nil:
		reason = closedGone
	default:
		reason = closedFailed
	}
	s.metrics.streamsEnded.WithLabelValues(reason).Inc()
	return reason
}

// delivered measures how late a reader that has caught up is.
func (st *stream) delivered(seq int64) {
	if last, at := st.tail.Last(); seq == last && !at.IsZero() {
		st.server.metrics.streamLag.Observe(time.Since(at).Seconds())
	}
}

// End is what a stream says last: the state of its run, and its status if it has one.
type End struct {
	State  view.State      `json:"state"`
	Status document.Status `json:"status,omitempty"`
}

// end waits a moment for the result, which is written after the last event.
func (st *stream) end() End {
	for began := time.Now(); ; {
		v, err := view.OfRun(st.dir)
		if err != nil || v.State == view.Ended || time.Since(began) > settleBound {
			return End{v.State, v.Status}
		}
		select {
		case <-st.ctx.Done():
			return End{v.State, v.Status}
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// readFrom returns the number of the first event a reader wants: what a browser has seen goes over what was asked for.
func readFrom(r *http.Request) (int64, error) {
	number := func(name, text string, least int64) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < least || n > 1<<53 || strconv.FormatInt(n, 10) != text {
			return 0, problem.New(problem.CodeBadParameter, "a parameter is not valid").At("", name+": must be the number of an event")
		}
		return n, nil
	}
	if seen := r.Header.Get("Last-Event-ID"); seen != "" {
		n, err := number("Last-Event-ID", seen, 0)
		return n + 1, err
	}
	if from := r.URL.Query().Get("from"); from != "" {
		return number("from", from, 1)
	}
	return 1, nil
}

// nothingFollows reports whether a run has ended and all its events before from are its whole journal.
func nothingFollows(dir *state.RunDir, from int64) (bool, error) {
	if _, err := os.Lstat(dir.ResultPath()); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	last, ok, err := journal.Last(dir.EventsPath())
	if err != nil || !ok {
		return ok, err
	}
	return last.Seq < from, nil
}
