package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/feed"
	"sandboxrun/runner/index"
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
