package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"sandboxrun/runner/httpapi/guard"
)

const (
	// maxConnections bounds the connections of one listener.
	maxConnections = 2000
	// stopBound is how long requests may take to end when the server stops.
	stopBound = 1500 * time.Millisecond
)

// Listeners are where a server listens; either may be nil.
type Listeners struct {
	TCP    net.Listener
	Socket net.Listener // a unix socket: callers of the same user need no token
	TLS    *tls.Config  // for TCP, nil for plain text
}

// Serve answers requests until ctx ends, then stops within two seconds: streams are told, and no new request is accepted.
// It closes the listeners.
func (s *Server) Serve(ctx context.Context, l Listeners) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		servers []*http.Server
		failed  = make(chan error, 2) // one a listener
		running sync.WaitGroup
		port    int
		address string
	)
	if l.TCP != nil {
		if a, ok := l.TCP.Addr().(*net.TCPAddr); ok {
			port = a.Port
			if !a.IP.IsLoopback() && !a.IP.IsUnspecified() {
				address = a.IP.String()
			}
		}
	}
	start := func(listener net.Listener, config *tls.Config) {
		if listener == nil {
			return
		}
		srv := s.newHTTP(s.handler(port, address))
		servers = append(servers, srv)
		listener = netutil.LimitListener(listener, maxConnections)
		if config != nil {
			listener = tls.NewListener(listener, config)
		}
		running.Go(func() {
			if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("listen at %s: %w", listener.Addr(), err)
				cancel()
			}
		})
	}
	s.streams.Go(func() { s.watchRuns(ctx) })
	start(l.TCP, l.TLS)
	if l.Socket != nil {
		start(guard.Socket(l.Socket), nil)
	}
	<-ctx.Done()
	close(s.stopping)
	err := s.stop(context.WithoutCancel(ctx), servers)
	running.Wait()
	close(failed)
	for f := range failed {
		err = errors.Join(err, f)
	}
	return err
}

func (s *Server) stop(ctx context.Context, servers []*http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, stopBound)
	defer cancel()
	var errs []error
	for _, srv := range servers {
		if err := srv.Shutdown(ctx); err != nil {
			s.o.Log.Warn("requests were cut off", "cause", err.Error())
			errs = append(errs, srv.Close())
		}
	}
	s.streams.Wait() // each has seen that the server stops
	errs = append(errs, s.tails.Close())
	return errors.Join(errs...)
}

func (s *Server) newHTTP(h http.Handler) *http.Server {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: headTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHead - 4096, // net/http reads 4 KiB more than it is told
		ConnContext:    guard.Connection,
		ErrorLog:       log.New(logWriter{s.o.Log}, "", 0),
		Protocols:      new(http.Protocols),
		// "OPTIONS *" shall pass the guard like everything else.
		DisableGeneralOptionsHandler: true,
	}
	srv.Protocols.SetHTTP1(true)
	return srv
}

// logWriter turns what net/http reports into lines of the server's own log.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(b []byte) (int, error) {
	w.log.Debug("connection", "message", clip(string(b)))
	return len(b), nil
}
