package attack

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// hitsCap bounds how many requests are recorded.
const hitsCap = 1000

// listener is a server on the host that no box may reach.
type listener struct {
	srv  *http.Server
	port string
	done chan struct{}

	mu   sync.Mutex
	hits []string
}

// listen starts a listener on every address of the host.
func listen(ctx context.Context) (*listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "0.0.0.0:0")
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	c := &listener{port: port, done: make(chan struct{})}
	c.srv = &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.note(r.Method + " " + r.RequestURI)
			_, _ = io.WriteString(w, "reached\n")
		}),
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				c.note("tcp")
			}
		},
	}
	go func() {
		defer close(c.done)
		_ = c.srv.Serve(l) // it ends when the listener is closed
	}()
	return c, nil
}

func (c *listener) note(hit string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.hits) < hitsCap {
		c.hits = append(c.hits, hit)
	}
}

// close stops listening and returns the recorded requests.
func (c *listener) close() []string {
	_ = c.srv.Close()
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits
}

// addresses lists the host's IPv4 addresses other than loopback.
func addresses() ([]string, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			out = append(out, ip.IP.String())
		}
	}
	return out, nil
}
