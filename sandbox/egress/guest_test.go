package egress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sandboxrun/sandbox/egress/guest"
	"sandboxrun/sandbox/egress/tunnel"
)

func TestDialReachesAPortInTheBox(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	port, err := strconv.Atoi(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := r.gate.Dial(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	big := bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // more than one window
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := conn.Write(big); err != nil {
			t.Error(err)
		}
		if err := conn.(tunnel.Duplex).CloseWrite(); err != nil {
			t.Error(err)
		}
	})
	got, err := io.ReadAll(conn)
	wg.Wait()
	if err != nil || !bytes.Equal(got, append(big, "bye"...)) {
		t.Errorf("%d bytes back, %v", len(got), err)
	}
	closed, err := strconv.Atoi(strings.TrimPrefix(closedAddress(t), "127.0.0.1:"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.gate.Dial(t.Context(), closed); err == nil {
		t.Error("dialled a port without a listener")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.gate.Dial(ctx, port); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, port := range []int{-1, 0, 65536} {
		if _, err := r.gate.Dial(t.Context(), port); err == nil {
			t.Errorf("port %d", port)
		}
	}
}

func TestNamesLookedUpInTheBoxAreDeniedAndRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", r.names)
	}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := resolver.LookupHost(ctx, "telemetry.example.")
	if dns, ok := errors.AsType[*net.DNSError](err); !ok || !dns.IsNotFound {
		t.Errorf("lookup: %v", err)
	}
	// A connection answered after the name was reported orders the two events.
	port, err := strconv.Atoi(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	for seen := false; !seen && ctx.Err() == nil; {
		conn, err := r.gate.Dial(ctx, port)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		r.mu.Lock()
		seen = len(r.records) > 0
		r.mu.Unlock()
	}
	recs := r.recorded(KindDenied)
	if len(recs) == 0 || recs[0].Name != "telemetry.example" || recs[0].Reason != reasonLookup {
		t.Errorf("records: %+v", recs)
	}
}

func TestGuestEndsWithTheTunnel(t *testing.T) {
	t.Parallel()
	in, hostOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	hostIn, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hostIn.Close()
	cfg := guest.Config{Broker: listen(t), Proxy: listen(t)}
	result := make(chan error, 1)
	go func() {
		result <- guest.Run(t.Context(), joined{in, out, func() error { return errors.Join(in.Close(), out.Close()) }}, cfg)
	}()
	if err := hostOut.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", cfg.Broker.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("still listening")
	}
}

func TestGuestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	inBox, host := net.Pipe()
	defer host.Close()
	go func() { _, _ = io.Copy(io.Discard, host) }()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- guest.Run(ctx, inBox, guest.Config{Broker: listen(t), Proxy: listen(t)}) }()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestManyClientsAtOnce opens more connections than the guest carries: all are answered in the end, and a stuck proxy
// does not block the broker.
func TestManyClientsAtOnce(t *testing.T) {
	t.Parallel()
	target := "site.test:" + echo(t)
	r := newRig(t, Config{
		Allow: []string{target}, AllowPrivate: true, Resolver: names{"site.test": {"127.0.0.1"}},
		Routes: []Route{provider(t, nil)},
	})
	var idle []net.Conn
	for range tunnel.ProxyConns + 20 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.proxy, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, conn)
	}
	var wg sync.WaitGroup
	for range 2 * tunnel.BrokerConns {
		wg.Go(func() {
			if got := r.raw(t, r.broker, "HEAD /anthropic/api/hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"); got != 200 {
				t.Errorf("status %d", got)
			}
		})
	}
	wg.Wait()
	for _, conn := range idle {
		_ = conn.Close()
	}
	conn, br := r.connect(t, target, "x")
	if b, err := br.ReadByte(); err != nil || b != 'x' {
		t.Errorf("%q %v", b, err)
	}
	_ = conn.Close()
}

func TestEnvPointsAtTheProxyButKeepsLoopbackDirect(t *testing.T) {
	t.Parallel()
	env := strings.Join(Env(), "\n")
	for _, want := range []string{"HTTPS_PROXY=http://127.0.0.1:18471", "http_proxy=http://127.0.0.1:18471", "NO_PROXY=127.0.0.1,localhost,::1"} {
		if !strings.Contains(env, want) {
			t.Errorf("%s is not in %s", want, env)
		}
	}
	if got := BrokerURL("anthropic"); got != "http://127.0.0.1:18470/anthropic" {
		t.Error(got)
	}
	a, b := NewToken(), NewToken()
	if a == b || len(a) < 40 {
		t.Error(a, b)
	}
}
