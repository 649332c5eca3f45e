package egress

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
	"golang.org/x/sync/semaphore"

	"sandboxrun/sandbox/egress/tunnel"
)

// Config is what a gate lets out.
type Config struct {
	Token  string       // the box's placeholder; required when there are routes, see NewToken
	Routes []Route      // providers the broker forwards to
	Allow  []string     // entries of ParseAllow for the proxy; may change with SetAllow
	Record func(Record) // called for each record, one at a time; must be quick and not call the gate
	Limits Limits
	Budget Budget // of the model requests; nil for none beside Limits

	// AllowPrivate lets the proxy connect to private and local addresses. It is for tests and for users who host what
	// the box needs in their own network.
	AllowPrivate bool

	Resolver Resolver // for the proxy; nil: net.DefaultResolver

	// UpstreamProxy returns the proxy through which providers are reached; nil: http.ProxyFromEnvironment, which
	// connects to loopback base URLs directly.
	UpstreamProxy func(*http.Request) (*url.URL, error)
}

// ErrClosed is the error of a gate whose tunnel has ended.
var ErrClosed = errors.New("egress: the tunnel has ended")

// Gate is the host's end of one box's tunnel. It serves one tunnel, once.
type Gate struct {
	limits    Limits
	allow     *allowlist
	record    *recorder
	broker    *broker
	proxy     *proxy
	transport *http.Transport

	ready     chan struct{} // closed after the guest's hello
	readyOnce sync.Once
	closed    chan struct{} // closed by Close
	closeOnce sync.Once
	ended     chan struct{} // closed when Serve has returned, or will never run

	mu      sync.Mutex
	serving bool
	link    *link // nil outside Serve
}

// NewGate checks cfg and returns a gate for it; the caller closes it.
func NewGate(cfg Config) (*Gate, error) {
	rules, err := parseRules(cfg.Allow)
	if err != nil {
		return nil, err
	}
	limits := cfg.Limits.withDefaults()
	record := newRecorder(cfg.Record)
	b := &broker{
		routes: map[string]*Route{}, token: sha256.Sum256([]byte(cfg.Token)),
		limits: limits, record: record, memory: semaphore.NewWeighted(limits.HeldBytes), budget: cfg.Budget,
	}
	b.bytes.Store(limits.BrokerBytes)
	for _, route := range cfg.Routes {
		if len(route.dialects) == 0 {
			return nil, errors.New("a route that NewRoute did not make")
		}
		if b.routes[route.provider] != nil {
			return nil, fmt.Errorf("provider %s is given twice", route.provider)
		}
		b.routes[route.provider] = &route
	}
	if len(cfg.Routes) > 0 && cfg.Token == "" {
		return nil, errors.New("routes without a token")
	}
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	if cfg.UpstreamProxy == nil {
		cfg.UpstreamProxy = http.ProxyFromEnvironment
	}
	g := &Gate{
		limits: limits,
		allow:  newAllowlist(rules),
		record: record,
		broker: b,
		transport: &http.Transport{
			Proxy:               cfg.UpstreamProxy,
			DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout: dialTimeout,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true, // the usage parser reads what passes
			MaxIdleConnsPerHost: tunnel.BrokerConns,
			IdleConnTimeout:     90 * time.Second,
		},
		ready:  make(chan struct{}),
		closed: make(chan struct{}),
		ended:  make(chan struct{}),
	}
	b.transport = g.transport
	g.proxy = &proxy{
		allow: g.allow, limits: limits, record: record,
		dialer: guardedDialer{resolver: cfg.Resolver, allowPrivate: cfg.AllowPrivate},
	}
	return g, nil
}

// SetAllow replaces the proxy's allow-list. Connections the new list does not admit are cut. On error the list stays
// unchanged.
func (g *Gate) SetAllow(entries []string) error {
	rules, err := parseRules(entries)
	if err != nil {
		return err
	}
	g.allow.set(rules)
	return nil
}

// Ready returns nil once the guest's listeners accept, and an error when the tunnel or ctx ends before that.
func (g *Gate) Ready(ctx context.Context) error {
	select {
	case <-g.ready:
		return nil
	default:
	}
	select {
	case <-g.ready:
		return nil
	case <-g.ended:
		return fmt.Errorf("wait for the guest: %w", ErrClosed)
	case <-ctx.Done():
		return fmt.Errorf("wait for the guest: %w", context.Cause(ctx))
	}
}

// Close ends the tunnel, invalidates the box's token, and waits until Serve has returned. It is idempotent and always
// returns nil.
func (g *Gate) Close() error {
	g.closeOnce.Do(func() { close(g.closed) })
	g.mu.Lock()
	if !g.serving {
		g.serving = true // too late for Serve
		close(g.ended)
	}
	g.mu.Unlock()
	<-g.ended
	return nil
}

// link is one tunnel with a guest while Serve runs.
type link struct {
	gate    *Gate
	session *yamux.Session
	broker  *httpService
	proxy   *httpService
	places  chan struct{} // one per stream being served
	names   chan struct{} // held by the stream that reports names
	dials   chan struct{} // one per stream being opened
	work    sync.WaitGroup
}
