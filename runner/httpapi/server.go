// Package httpapi is what the server says over HTTP: routes, streams, who may call them, and how they are counted. It
// knows no engine and no flags. Everything it tells of a run it reads from the state directory, so that it may die at any
// time and another one go on.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/config"
	"sandboxrun/runner/httpapi/guard"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/index"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	"sandboxrun/runner/tail"
)

// Options are what a Server is made from.
type Options struct {
	State   *state.State
	Service *service.Service
	Config  config.Config
	Machine Machine
	Log     *slog.Logger
	Version string // of this program
	Token   string // that callers must send
	Getenv  func(string) string
	TLS     bool // the server speaks TLS
}

// Machine answers what only the program's own wiring knows about this machine.
type Machine interface {
	// Ready is "" when tasks can run, otherwise one word for what is missing: engine, image or disk.
	Ready(ctx context.Context) string
	// Doctor checks the whole machine; it may take a minute.
	Doctor(ctx context.Context) Diagnosis
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	o       Options
	api     huma.API
	mux     *http.ServeMux
	metrics *metrics
	index   *index.Index
	doctor  doctor
	tails   *tail.Set

	openStreams atomic.Int64
	waits       atomic.Int64  // callers that wait for results
	cancelling  sync.Map      // ids of runs whose end is enforced
	slow        time.Duration // slowBound, less in tests

	stopping chan struct{}  // closed when the server begins to stop
	streams  sync.WaitGroup // requests that have left the HTTP server's own care
	ready    readiness
}

// openPaths need no token: supervisors ask them, and they tell nothing about this machine.
var openPaths = []string{"/healthz", "/readyz"}

// New makes a server of the routes. Serve listens.
func New(o Options) *Server {
	s := &Server{o: o, mux: http.NewServeMux(), metrics: newMetrics(o.Version, o.State, o.Service), tails: tail.NewSet(), slow: slowBound, stopping: make(chan struct{})}
	s.api = newAPI(s.mux)
	s.index = index.New(o.State, o.Service.Queued)
	s.healthRoutes()
	s.runRoutes()
	s.executeRoutes()
	s.controlRoutes()
	s.fileRoutes()
	s.streamRoutes()
	s.sessionRoutes()
	s.machineRoutes()
	s.openAPIRoutes()
	return s
}

// handler is the whole chain for a server that listens at that port; address is its IP address where that is not
// loopback.
func (s *Server) handler(port int, address string) http.Handler {
	g := guard.New(guard.Options{
		Token: s.o.Token, Port: port, Names: s.o.Config.Serve.Hosts, TLS: s.o.TLS, Address: address, Refused: s.metrics.refused,
	})
	return s.record(g.Protect(http.HandlerFunc(s.dispatch), openPaths...))
}

// dispatch calls the route of a request. Only paths in their one form have routes: nothing is redirected or unescaped.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	if p := s.unfit(r); p != nil {
		p.Write(w)
		return
	}
	h, pattern := s.mux.Handler(r)
	if pattern == "" {
		probe := &statusOnly{header: http.Header{}}
		h.ServeHTTP(probe, r)
		if probe.status == http.StatusMethodNotAllowed {
			w.Header()["Allow"] = probe.header["Allow"]
			problem.New(problem.CodeMethodNotAllowed, "this path does not have the method %s", clip(r.Method)).Write(w)
			return
		}
		problem.New(problem.CodeNotFound, "there is nothing at this path").Write(w)
		return
	}
	setRoute(r.Context(), pattern)
	s.mux.ServeHTTP(w, r) // not h: only the mux sets the values of the path
}

// statusOnly receives what the mux would answer, of which only status and headers are used.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
