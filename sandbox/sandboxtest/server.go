package sandboxtest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// NewFaultProxy listens on a socket of its own in front of the unix socket target, without any fault yet, until the
// test ends.
func NewFaultProxy(t testing.TB, target string) *FaultProxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "fp") //nolint:usetesting // the path of a unix socket may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	p := &FaultProxy{
		t: t, path: filepath.Join(dir, "s"), target: target,
		change: make(chan struct{}), conns: map[*faultConn]bool{},
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "unix", target)
			if err == nil {
				p.mu.Lock()
				p.engine = append(p.engine, conn)
				p.mu.Unlock()
			}
			return conn, err
		},
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "engine"})
		},
		Transport:      transport,
		FlushInterval:  -1,
		ModifyResponse: p.rewrite,
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	p.server = &http.Server{ //nolint:gosec // slow clients are allowed
		Handler:  http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(proxy, w, r) }),
		ErrorLog: log.New(io.Discard, "", 0),
	}
	p.Accept()
	t.Cleanup(func() {
		p.Refuse()
		_ = p.server.Close() // its listener is closed already
		p.mu.Lock()
		for _, conn := range p.engine {
			conn.Close()
		}
		p.mu.Unlock()
		p.served.Wait()
		transport.CloseIdleConnections()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *FaultProxy) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	p.served.Add(1)
	defer p.served.Done()
	p.mu.Lock()
	answers := p.answers
	if route := Route(r); !slices.Contains(p.seen, route) {
		p.seen = append(p.seen, route)
	}
	p.mu.Unlock()
	for _, a := range answers {
		if a.match(r) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(a.status)
			_, _ = io.WriteString(w, `{"message":"injected fault"}`) // the client may be gone
			return
		}
	}
	if f := p.faultOf(r); f != "" {
		r = r.WithContext(context.WithValue(r.Context(), faultKey{}, f))
		if p.unheard(f, w, r) {
			return
		}
	}
	next.ServeHTTP(w, r)
}

func (p *FaultProxy) rewrite(r *http.Response) error {
	p.mu.Lock()
	version, after := p.version, p.after
	p.mu.Unlock()
	if version != "" {
		r.Header.Set("Api-Version", version)
	}
	for _, a := range after {
		if a.match(r.Request) {
			a.do()
		}
	}
	return p.spoil(r)
}
