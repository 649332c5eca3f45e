package sandboxtest

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// FaultProxy stands in front of an engine's unix socket and fails on demand. All
// methods may be called at any time and take effect at once, on connections that
// are open too.
type FaultProxy struct {
	t      testing.TB
	path   string
	target string
	server *http.Server
	served sync.WaitGroup

	mu       sync.Mutex
	change   chan struct{} // closed and replaced when a setting changes
	hang     bool
	slow     time.Duration // pause before each chunk of an answer
	version  string
	answers  []answer
	after    []afterAnswer
	faults   []injected
	seen     []string // routes
	listener net.Listener
	conns    map[*faultConn]bool
	engine   []net.Conn // connections to the engine, of which streams outlive the server
}

// answer replaces the engine's own answer to the requests it matches.
type answer struct {
	match  func(*http.Request) bool
	status int
}

// afterAnswer runs when the engine has answered and the client has not seen it.
type afterAnswer struct {
	match func(*http.Request) bool
	do    func()
}

// NewFaultProxy listens on a socket of its own in front of the unix socket
// target, without any fault yet, until the test ends.
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
	p.server = &http.Server{ //nolint:gosec // a client that takes its time is welcome
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

// Host is the endpoint to give to an engine, unix://….
func (p *FaultProxy) Host() string { return "unix://" + p.path }

// Refuse makes connecting fail and cuts every connection, as when an engine
// dies. Accept undoes it.
func (p *FaultProxy) Refuse() {
	p.mu.Lock()
	if p.listener != nil {
		_ = p.listener.Close() // Serve may have closed it
		p.listener = nil
	}
	p.mu.Unlock()
	p.Cut()
}

// Accept listens again after Refuse; without one it does nothing.
func (p *FaultProxy) Accept() {
	p.mu.Lock()
	listening := p.listener != nil
	p.mu.Unlock()
	if listening {
		return
	}
	l, err := net.Listen("unix", p.path) //nolint:noctx // does not wait for anything
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.listener = l
	p.mu.Unlock()
	p.served.Go(func() {
		if err := p.server.Serve(faultListener{l, p}); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			p.t.Errorf("fault proxy: %v", err)
		}
	})
}

// Cut closes every connection that is open, in mid-stream.
func (p *FaultProxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.drop() // cut already when it fails
	}
}

// Hang stops (or lets go on) every byte in both directions, without closing
// anything: the engine is there and silent.
func (p *FaultProxy) Hang(on bool) { p.set(func() { p.hang = on }) }

// Slow makes each chunk of an answer wait; 0 undoes it.
func (p *FaultProxy) Slow(pause time.Duration) { p.set(func() { p.slow = pause }) }

// Version makes the engine claim that API version; "" undoes it.
func (p *FaultProxy) Version(v string) { p.set(func() { p.version = v }) }

// Answer makes requests that match fail with an HTTP status without reaching
// the engine. Heal undoes it.
func (p *FaultProxy) Answer(status int, match func(*http.Request) bool) {
	p.set(func() { p.answers = append(p.answers, answer{match, status}) })
}

// AfterAnswer calls do when the engine has answered a request that matches,
// before the client sees any of the answer. Heal undoes it.
func (p *FaultProxy) AfterAnswer(match func(*http.Request) bool, do func()) {
	p.set(func() { p.after = append(p.after, afterAnswer{match, do}) })
}

// Heal undoes every Answer, AfterAnswer and Inject.
func (p *FaultProxy) Heal() { p.set(func() { p.answers, p.after, p.faults = nil, nil, nil }) }

func (p *FaultProxy) set(how func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how()
	close(p.change)
	p.change = make(chan struct{})
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
