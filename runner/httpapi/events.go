package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/tail"
)

// EventPage is a part of a run's journal, in order.
type EventPage struct {
	Events []json.RawMessage `json:"events"`
	Last   int64             `doc:"Number of the newest event of the journal, 0 for none." json:"last"`
}

const (
	defaultEvents = 200
	maxEvents     = 2000
	maxWords      = 200 // bytes of a search
)

func (s *Server) streamRoutes() {
	text := func(name, about string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Schema: &huma.Schema{Type: "string"}}
	}
	number := func(name, about string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Schema: &huma.Schema{Type: "integer", Minimum: new(float64)}}
	}
	s.plain(huma.Operation{Method: http.MethodGet, Path: "/api/runs/{id}/events", OperationID: "streamEvents", Summary: "Follow a run's events, or read a page of them",
		Description: "Accept: application/json gives a page. Anything else gives server-sent events: each has its number as id and one event of the journal as data. " +
			"Messages with a name (caught_up, stopping, end) are about the stream. A reader of an ended run that has seen its last event gets 204.",
		Parameters: []*huma.Param{
			idParam(), number("from", "Number of the first event."), number("before", "Page: only events before this number, the newest of them."),
			number("limit", "Page: at most so many events, up to 2000."), text("kinds", "Page: only these kinds, separated by commas."),
			text("q", "Page: only events that hold this text, in any case."),
			{Name: "Last-Event-ID", In: "header", Description: "Number of the last event the reader has.", Schema: &huma.Schema{Type: "string"}},
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "Events.", Content: map[string]*huma.MediaType{
				"text/event-stream": {Schema: &huma.Schema{Type: "string"}}, "application/json": {Schema: schemaOf[EventPage](s.api)},
			}},
			"204": {Description: "The run has ended, and nothing follows."},
		}}, func(w http.ResponseWriter, r *http.Request) error {
		accept := r.Header.Get("Accept")
		if strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/event-stream") {
			return s.serveEventPage(w, r)
		}
		return s.serveSSE(w, r)
	})
	for path, id := range map[string]string{"/api/runs/{id}/stream/ws": "streamWebSocket", "/api/scratch/process/{id}/stream/ws": "streamProcess"} {
		s.plain(huma.Operation{Method: http.MethodGet, Path: path, OperationID: id, Summary: "Follow a run's events over a WebSocket",
			Description: "One event of the journal a message. Sub-protocol sandboxrun.v1; a browser passes the token as a second one, bearer.TOKEN. " +
				"Closed with 1000 after the last event, 1012 when the server stops, 4404 for an unknown run.",
			Parameters: []*huma.Param{idParam(), number("from", "Number of the first event.")},
			Responses:  map[string]*huma.Response{"101": {Description: "The connection is a WebSocket now."}}}, s.serveWebSocket)
	}
}

func (s *Server) serveEventPage(w http.ResponseWriter, r *http.Request) error {
	dir, err := s.run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	q, err := eventQuery(r)
	if err != nil {
		return err
	}
	page := EventPage{Events: []json.RawMessage{}}
	t, done, err := tail.Snapshot(dir.EventsPath())
	if err != nil {
		return err
	}
	defer done()
	lines, err := t.Page(r.Context(), q)
	if err != nil {
		return err
	}
	for _, line := range lines {
		page.Events = append(page.Events, line)
	}
	page.Last, _ = t.Last()
	doc, err := json.Marshal(page)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(doc, '\n')) // the caller may have hung up
	return nil
}

func eventQuery(r *http.Request) (tail.Query, error) {
	values := r.URL.Query()
	bad := problem.New(problem.CodeBadParameter, "a parameter is not valid")
	number := func(name string, least, most, otherwise int64) int64 {
		text := values.Get(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < least || n > most {
			bad = bad.At("", name+": must be a number from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
		}
		return n
	}
	q := tail.Query{From: number("from", 1, 1<<53, 0), Before: number("before", 1, 1<<53, 0), Limit: int(number("limit", 1, maxEvents, defaultEvents))}
	if q.From > 0 && q.Before > 0 {
		bad = bad.At("", "from and before exclude each other")
	}
	words := bytes.ToLower([]byte(values.Get("q")))
	if len(words) > maxWords {
		bad = bad.At("", "q: must not be longer than 200 bytes")
	}
	var kinds []string
	if text := values.Get("kinds"); text != "" {
		kinds = strings.Split(text, ",")
	}
	if len(bad.Body.Details) > 0 {
		return q, bad
	}
	if len(kinds) > 0 || len(words) > 0 {
		q.Match = func(kind string, line []byte) bool {
			return (len(kinds) == 0 || slices.Contains(kinds, kind)) && (len(words) == 0 || bytes.Contains(bytes.ToLower(line), words))
		}
	}
	return q, nil
}
