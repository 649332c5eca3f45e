package httpapi

import (
	"context"
	"net/http"

	"sandboxrun/runner/feed"
	"sandboxrun/runner/httpapi/guard"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/index"
	"sandboxrun/runner/service"
	"sandboxrun/runner/tail"
)

// New makes a server of the routes. Serve listens.
func New(o Options) *Server {
	s := &Server{o: o, mux: http.NewServeMux(), metrics: newMetrics(o.Version, o.State, o.Service), tails: tail.NewSet(), slow: slowBound, stopping: make(chan struct{})}
	s.api = newAPI(s.mux)
	s.index = index.New(o.State, o.Service.Queued)
	s.feed = feed.New(feed.Source{State: o.State, Queued: o.Service.Queued, Ended: s.newest,
		Approvals: func(ctx context.Context) ([]service.Approval, error) { return o.Service.Approvals(ctx, "") },
		Failed:    func(err error) { o.Log.Warn("runs could not be looked at", "cause", err.Error()) }})
	s.healthRoutes()
	s.runRoutes()
	s.executeRoutes()
	s.controlRoutes()
	s.fileRoutes()
	s.reviewRoutes()
	s.streamRoutes()
	s.changeRoutes()
	s.sessionRoutes()
	s.openingRoutes()
	s.machineRoutes()
	s.workspaceRoutes()
	s.loginRoutes()
	s.openAPIRoutes()
	s.pageRoutes()
	return s
}

// handler is the whole chain for a server that listens at that port; address is its IP address where that is not
// loopback.
func (s *Server) handler(port int, address string) http.Handler {
	g := guard.New(guard.Options{
		Token: s.o.Token, Port: port, Names: s.o.Config.Serve.Hosts, TLS: s.o.TLS, Address: address, Refused: s.metrics.refused, Session: s.pageSession,
	})
	return s.record(g.Protect(http.HandlerFunc(s.dispatch), append(pagePaths(), openPaths...)...))
}

// openPaths need no token: supervisors ask the first two, a page without one the last, and they tell nothing about this
// machine.
var openPaths = []string{"/healthz", "/readyz", "/api/login"}

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
