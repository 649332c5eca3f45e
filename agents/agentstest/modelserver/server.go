// Package modelserver is a model provider without a model: it speaks the
// Anthropic Messages API and answers with the steps of a scenario, so that a
// real agent CLI can be driven without an account and without a network.
package modelserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// headerTimeout ends connections that never send their request.
const headerTimeout = 10 * time.Second

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
	message  int // messages and tool calls made, for ids
	requests []Request
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
	srv := &Server{url: "http://" + l.Addr().String(), steps: s.Steps}
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

// URL is the base URL of the API, without a trailing slash.
func (s *Server) URL() string { return s.url }

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

// Remaining is the number of steps that no request has reached yet.
func (s *Server) Remaining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := len(s.steps) - s.next
	if left > 0 && s.used > 0 {
		left--
	}
	return left
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens)
	mux.HandleFunc("/", s.other)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.work.Add(1)
		defer s.work.Done()
		mux.ServeHTTP(w, r)
	})
}

// other answers what is not the model: HEAD /api/hello asks only for an answer.
func (s *Server) other(w http.ResponseWriter, r *http.Request) {
	s.remember(record(r, question{}))
	if r.Method == http.MethodHead || r.Method == http.MethodGet && r.URL.Path == "/api/hello" {
		w.WriteHeader(http.StatusOK)
		return
	}
	fault(w, Fault{Status: http.StatusNotFound, Type: "not_found_error", Message: "no such endpoint here"})
}

func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	q, ok := s.question(w, r)
	if !ok {
		return
	}
	rec := record(r, q)
	rec.Main = false
	s.remember(rec)
	writeJSON(w, http.StatusOK, map[string]int{"input_tokens": inputTokens})
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	q, ok := s.question(w, r)
	if !ok {
		return
	}
	rec := record(r, q)
	s.remember(rec)
	step := Step{Text: "ok"}
	if rec.Main {
		step = s.step()
	}
	s.answer(w, r, q, step)
}

func (s *Server) question(w http.ResponseWriter, r *http.Request) (question, bool) {
	var q question
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes)).Decode(&q); err != nil {
		fault(w, Fault{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: err.Error()})
		return q, false
	}
	// The request's context ends with the connection only once the whole body
	// was read.
	_, _ = io.Copy(io.Discard, r.Body)
	return q, true
}

// step takes the next step of the script. After the last one the model has
// nothing more to say, which ends every turn.
func (s *Server) step() Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next >= len(s.steps) {
		return Step{Text: "The script has ended."}
	}
	step := s.steps[s.next]
	s.used++
	if step.Times >= 0 && s.used >= max(step.Times, 1) {
		s.next, s.used = s.next+1, 0
	}
	return step
}

func (s *Server) remember(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) >= maxRequests {
		s.requests = s.requests[1:]
	}
	s.requests = append(s.requests, r)
}

// id numbers messages and tool calls, so that two runs of a script agree.
func (s *Server) id(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.message++
	return fmt.Sprintf("%s_%012d", prefix, s.message)
}
