package transcript

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// front is an HTTP server that is reached without a network.
type front struct {
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
	http  *http.Server
	serve sync.WaitGroup // the accept loop
	work  sync.WaitGroup // handlers
}

func newFront(h http.HandlerFunc) *front {
	f := &front{conns: make(chan net.Conn), ended: make(chan struct{})}
	f.http = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f.work.Add(1)
			defer f.work.Done()
			h(w, r)
		}),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	f.serve.Go(func() {
		if err := f.http.Serve(f); !errors.Is(err, http.ErrServerClosed) {
			slog.Error("front ended", "error", err)
		}
	})
	return f
}

// dial makes a connection to the server.
func (f *front) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case f.conns <- far:
		return near, nil
	case <-f.ended:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// close ends every connection and waits for the handlers.
func (f *front) close() error {
	err := f.http.Close()
	f.serve.Wait()
	f.work.Wait()
	return err
}

// Accept implements net.Listener.
func (f *front) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.ended:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (f *front) Close() error {
	f.once.Do(func() { close(f.ended) })
	return nil
}

// Addr implements net.Listener.
func (f *front) Addr() net.Addr { return &net.UnixAddr{Name: "transcript", Net: "unix"} }
