package httpapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// readyEvery is how long an answer about this machine is kept: supervisors ask often.
const readyEvery = 5 * time.Second

// healthRoutes are for supervisors: one word each, and no token.
func (s *Server) healthRoutes() {
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { word(w, http.StatusOK, "ok") })
	s.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if missing := s.missing(r.Context()); missing != "" {
			word(w, http.StatusServiceUnavailable, missing)
			return
		}
		word(w, http.StatusOK, "ready")
	})
	metrics := promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2, DisableCompression: true})
	s.mux.Handle("GET /metrics", metrics)
}

// missing says what keeps tasks from running, "" for nothing.
func (s *Server) missing(ctx context.Context) string {
	select {
	case <-s.stopping:
		return "stopping"
	default:
	}
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	if s.ready.at.IsZero() || time.Since(s.ready.at) > readyEvery {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyEvery)
		defer cancel()
		s.ready.missing, s.ready.at = s.o.Machine.Ready(ctx), time.Now()
	}
	return s.ready.missing
}

func word(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // the caller may have hung up
}

// Alive reports whether the server still answers, for a watchdog.
func (s *Server) Alive(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/healthz", nil)
	out := &statusOnly{header: http.Header{}}
	if err == nil {
		s.mux.ServeHTTP(out, r)
	}
	return out.status == http.StatusOK
}
