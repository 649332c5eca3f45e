package egress

import (
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"sandboxrun/sandbox/egress/tunnel"
)

// silent discards the lines net/http would log: the guest controls their number.
var silent = log.New(io.Discard, "", 0)

const (
	maxHeaderBytes = 64 << 10
	httpIdle       = 5 * time.Minute // between two requests of one connection
)

// httpService serves HTTP/1 on the streams it receives.
type httpService struct {
	server *http.Server
	inbox  *inbox
	conns  sync.WaitGroup // connections the server holds
	loop   sync.WaitGroup
}

func newHTTPService(h http.Handler) *httpService {
	s := &httpService{inbox: &inbox{conns: make(chan net.Conn), done: make(chan struct{})}}
	s.server = &http.Server{
		Handler:                      h,
		DisableGeneralOptionsHandler: true, // h refuses OPTIONS too
		ReadHeaderTimeout:            tunnel.HeaderTimeout,
		IdleTimeout:                  httpIdle,
		MaxHeaderBytes:               maxHeaderBytes,
		ErrorLog:                     silent,
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.conns.Add(1)
			case http.StateClosed, http.StateHijacked:
				s.conns.Done()
			}
		},
	}
	s.loop.Go(func() {
		_ = s.server.Serve(s.inbox) // ends with ErrServerClosed, by close
	})
	return s
}

// close ends every connection and waits until its handler has returned.
func (s *httpService) close() {
	_ = s.server.Close() // closing a stream of a closed tunnel is no error
	s.loop.Wait()
	s.conns.Wait()
}

// inbox is a listener whose connections come from the tunnel.
type inbox struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Accept returns the next connection, or net.ErrClosed after Close.
func (i *inbox) Accept() (net.Conn, error) {
	select {
	case c := <-i.conns:
		return c, nil
	case <-i.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (i *inbox) Close() error {
	i.once.Do(func() { close(i.done) })
	return nil
}

// Addr returns a placeholder: a tunnel has no address.
func (i *inbox) Addr() net.Addr { return &net.UnixAddr{Name: "tunnel", Net: "unix"} }

// put passes c to Accept, or closes it when the service has ended.
func (i *inbox) put(c net.Conn) {
	select {
	case i.conns <- c:
	case <-i.done:
		_ = c.Close()
	}
}
