package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/internal/wire"
	"sandboxrun/sandbox/egress/guest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testToken = "placeholder-of-this-test"
	testKey   = "sk-real-key-4711"
	patience  = 30 * time.Second // an upper bound that only a hang reaches
)

// rig is a gate and a guest in one process, joined by a pipe.
type rig struct {
	gate   *Gate
	broker string // base URL of the broker port
	proxy  string // base URL of the proxy port
	names  string // address of the name service
	client *http.Client
	stop   func() // ends the tunnel and waits; safe to call twice

	mu      sync.Mutex
	records []Record
	served  error
}

func newRig(t *testing.T, cfg Config) *rig {
	t.Helper()
	r := &rig{}
	cfg.Record = func(rec Record) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.records = append(r.records, rec)
	}
	if cfg.Token == "" {
		cfg.Token = testToken
	}
	gate, err := NewGate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.gate = gate
	inBox := guest.Config{Broker: listen(t), Proxy: listen(t)}
	if inBox.Names, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	r.broker, r.proxy = "http://"+inBox.Broker.Addr().String(), "http://"+inBox.Proxy.Addr().String()
	r.names = inBox.Names.LocalAddr().String()

	inside, outside := net.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() { r.served = gate.Serve(t.Context(), outside) })
	wg.Go(func() { _ = guest.Run(t.Context(), inside, inBox) })
	transport := &http.Transport{DisableCompression: true}
	r.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	r.stop = sync.OnceFunc(func() {
		transport.CloseIdleConnections()
		_ = gate.Close()
		wg.Wait()
	})
	t.Cleanup(r.stop)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := gate.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return r
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// recorded ends the tunnel and returns all records of a kind.
func (r *rig) recorded(kind string) []Record {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.records), func(rec Record) bool { return rec.Kind != kind })
}

// provider is a scripted upstream and the route to it.
func provider(t *testing.T, h http.HandlerFunc) Route {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return newRoute(t, "anthropic", server.URL, StaticKey(testKey), wire.AnthropicMessages)
}

func newRoute(t *testing.T, provider, base string, key KeyFunc, wires ...wire.Wire) Route {
	t.Helper()
	route, err := NewRoute(provider, mustURL(t, base), key, wires...)
	if err != nil {
		t.Fatal(err)
	}
	return route
}

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// small is a body that the broker forwards on every wire but the Gemini API's, whose paths name the model.
const small = `{"model":"m"}`

// question is a request with the token to the model behind the broker.
func (r *rig) question(ctx context.Context, t *testing.T, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.broker+"/anthropic/v1/messages", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", testToken)
	req.Header.Set("Content-Type", "application/json")
	return req
}

// ask sends a question and reads the whole answer.
func (r *rig) ask(t *testing.T, body string) (status int, answer string, h http.Header) {
	t.Helper()
	return r.do(t, r.question(t.Context(), t, strings.NewReader(body)))
}

func (r *rig) do(t *testing.T, req *http.Request) (status int, answer string, h http.Header) {
	t.Helper()
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

// names is a resolver with a fixed table.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	var addrs []netip.Addr
	for _, a := range n[host] {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	if addrs == nil {
		return nil, errors.New("no such host")
	}
	return addrs, nil
}

// joined is a tunnel of two pipes.
type joined struct {
	io.Reader
	io.Writer
	close func() error
}

func (j joined) Close() error { return j.close() }
