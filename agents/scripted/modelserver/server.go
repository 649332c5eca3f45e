// Package modelserver is a model provider without a model: it speaks the
// Anthropic Messages API, both APIs of OpenAI and the Gemini API, and answers
// with the steps of a scenario, so that a real agent CLI can be driven without
// an account and without a network.
package modelserver

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// headerTimeout ends connections that never send their request.
const headerTimeout = 10 * time.Second

// listed is the model the lists of models hold; any other name is answered too.
const listed = "scripted-model"

// firstAside is where the numbers of side answers start.
const firstAside = 900_000_000

// Server answers one scenario on loopback.
type Server struct {
	url   string
	http  *http.Server
	serve sync.WaitGroup // the accept loop
	work  sync.WaitGroup // handlers

	mu       sync.Mutex
	steps    []Step
	next     int // index into steps
	used     int // requests steps[next] has answered
	numbered int // messages and tool calls made, for ids
	aside    int // the same of side requests
	requests []Request
	failures []string
	watch    func(*http.Request, []byte)
}

// Start listens on a free loopback port and answers s until Close.
func Start(s Scenario) (*Server, error) { return StartAt("127.0.0.1:0", s) }

// StartAt listens on addr, host:port, and answers s until Close.
func StartAt(addr string, s Scenario) (*Server, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr) //nolint:noctx // does not wait for anything
	if err != nil {
		return nil, fmt.Errorf("start model server: %w", err)
	}
	srv := &Server{url: "http://" + l.Addr().String(), steps: slices.Clone(s.Steps)}
	srv.http = &http.Server{
		Handler:           srv.handler(),
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	srv.serve.Go(func() {
		if err := srv.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			slog.Error("model server ended", "error", err)
		}
	})
	return srv, nil
}

// URL is the base URL of the APIs, without a trailing slash and without the
// version that every path of theirs starts with.
func (s *Server) URL() string { return s.url }

// Watch has every later question shown to a function, with its body, before it is answered.
func (s *Server) Watch(f func(r *http.Request, body []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = f
}

// Close ends every connection and returns when no handler runs any more.
func (s *Server) Close() error {
	err := s.http.Close()
	s.serve.Wait()
	s.work.Wait()
	return err
}

// Requests returns what was asked so far, oldest first, side requests included.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.ask(anthropic{}))
	mux.HandleFunc("POST /v1/messages/count_tokens", s.count(anthropic{}, map[string]int{"input_tokens": inputTokens}))
	mux.HandleFunc("POST /v1/responses", s.ask(responses{}))
	mux.HandleFunc("POST /v1/chat/completions", s.ask(chat{}))
	mux.HandleFunc("POST /v1beta/models/{call}", s.gemini)
	mux.HandleFunc("GET /v1/models", s.list(map[string]any{
		"object": "list", "has_more": false,
		"data": []any{map[string]any{"id": listed, "object": "model", "type": "model", "display_name": listed, "created": created, "owned_by": "script"}},
	}))
	mux.HandleFunc("GET /v1beta/models", s.list(map[string]any{
		"models": []any{map[string]any{"name": "models/" + listed, "displayName": listed, "supportedGenerationMethods": []string{"generateContent", "countTokens"}}},
	}))
	mux.HandleFunc("/", s.other)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.work.Add(1)
		defer s.work.Done()
		mux.ServeHTTP(w, r)
	})
}

// ask answers a question to the model.
func (s *Server) ask(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, ok := s.read(w, r, p)
		if !ok {
			return
		}
		s.remember(q.Request)
		step := Step{Text: "ok"}
		switch {
		case q.Main:
			step = s.step(q)
		case len(q.schema) > 0:
			step.Text = string(encode(sample(q.schema)))
		}
		s.answer(w, r, p, q, step)
	}
}

// count answers how many tokens a question has.
func (s *Server) count(p protocol, tokens map[string]int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, ok := s.read(w, r, p)
		if !ok {
			return
		}
		q.Main = false
		s.remember(q.Request)
		writeJSON(w, http.StatusOK, tokens)
	}
}

func (s *Server) list(models any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.remember(address(r))
		writeJSON(w, http.StatusOK, models)
	}
}

// other answers what is not the model: HEAD /api/hello asks only for an answer.
func (s *Server) other(w http.ResponseWriter, r *http.Request) {
	s.remember(address(r))
	if r.Method == http.MethodHead || r.Method == http.MethodGet && r.URL.Path == "/api/hello" {
		w.WriteHeader(http.StatusOK)
		return
	}
	refuse(w, anthropic{}, Fault{Status: http.StatusNotFound, Message: "no such endpoint here"})
}

// address is what is known of a request without its body.
func address(r *http.Request) Request {
	return Request{Method: r.Method, Path: r.URL.Path, Key: key(r)}
}

func (s *Server) read(w http.ResponseWriter, r *http.Request, p protocol) (question, bool) {
	// The request's context ends with the connection only once the whole body
	// was read.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	var q question
	if err == nil {
		s.mu.Lock()
		watch := s.watch
		s.mu.Unlock()
		if watch != nil {
			watch(r, body)
		}
		q, err = p.parse(r, body)
	}
	if err != nil {
		refuse(w, p, Fault{Status: http.StatusBadRequest, Message: err.Error()})
		return question{}, false
	}
	q.Method, q.Path, q.Key = r.Method, r.URL.Path, key(r)
	return q, true
}

func (s *Server) remember(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) >= maxRequests {
		s.requests = s.requests[1:]
	}
	s.requests = append(s.requests, r)
}

// number counts messages and tool calls, so that two runs of a script agree.
// Side requests come when they like, so they are counted apart.
func (s *Server) number(main bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !main {
		s.aside++
		return firstAside + s.aside
	}
	s.numbered++
	return s.numbered
}

func (s *Server) compose(step Step, main bool) answer {
	a := answer{number: s.number(main), stop: step.StopReason}
	if a.stop == "" {
		a.stop = stopEnd
		if len(step.Tools) > 0 {
			a.stop = stopTools
		}
	}
	if step.Thinking != "" {
		a.parts = append(a.parts, part{kind: thinkingPart, text: step.Thinking})
	}
	if step.Text != "" {
		a.parts = append(a.parts, part{kind: textPart, text: step.Text})
	}
	for _, t := range step.Tools {
		a.parts = append(a.parts, part{kind: toolPart, text: string(t.Input), name: t.Name, number: s.number(main)})
	}
	return a
}

// answer carries a step out.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, p protocol, q question, step Step) {
	if step.DelayMS > 0 {
		timer := time.NewTimer(time.Duration(step.DelayMS) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
	switch a := s.compose(step, q.Main); {
	case step.Silent:
		<-r.Context().Done()
	case step.Fault != nil:
		refuse(w, p, *step.Fault)
	case q.Stream:
		stream(w, p.events(q, a), step.Cut)
	case step.Cut:
		half(w, p.document(q, a))
	default:
		writeJSON(w, http.StatusOK, p.document(q, a))
	}
}
