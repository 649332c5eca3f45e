package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"

	"sandboxrun/sandbox/egress/tunnel"

	"github.com/hashicorp/yamux"
)

// asked is a resolver that finds nothing and records the names it is asked for.
type asked struct {
	mu    sync.Mutex
	names []string
}

func (a *asked) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names = append(a.names, host)
	return nil, errors.New("no such host")
}

// FuzzProxyRequest sends a proxy whatever a program in the box could send: it looks up only listed names, every answer
// is HTTP or nothing, and no refusal contains bytes a terminal would obey.
func FuzzProxyRequest(f *testing.F) {
	for _, s := range []string{
		"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", "CONNECT example.com HTTP/1.1\r\n\r\n",
		"CONNECT evil.test:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", "CONNECT example.com:443@evil.test:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://example.com/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", "GET http://a@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://sub.allowed.test:8443/x HTTP/1.1\r\nHost: y\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\nGET http://evil.test/ HTTP/1.1\r\n\r\n",
		"GET http://allowed.test:8443/ HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://[::1]:80/ HTTP/1.1\r\nHost: z\r\n\r\n", "GET http://0x7f.1/ HTTP/1.1\r\nHost: z\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET http://example.com%00.evil.test/ HTTP/1.1\r\nHost: z\r\n\r\n", "\x16\x03\x01\x02\x00\x01", "GET http://EXAMPLE.com.:80/ HTTP/1.1\r\nHost: z\r\nExpect: 100-continue\r\nUpgrade: h2c\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	allow := []string{"example.com", "*.allowed.test:8443"}
	rules, err := parseRules(allow)
	if err != nil {
		f.Fatal(err)
	}
	admitted := func(host string) bool {
		for _, r := range rules {
			if r.match(host, 443) || r.match(host, 8443) {
				return true
			}
		}
		return false
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		resolver := &asked{}
		var records []Record
		gate, err := NewGate(Config{Allow: allow, Resolver: resolver, Record: func(r Record) { records = append(records, r) }})
		if err != nil {
			t.Fatal(err)
		}
		inside, outside := net.Pipe()
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = gate.Serve(t.Context(), outside) // checked in other tests
		}()
		session, err := yamux.Client(inside, tunnel.Config(tunnel.GuestLinger))
		if err != nil {
			t.Fatal(err)
		}
		opened, err := session.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		st := &tunnel.Stream{Stream: opened}
		if err := (tunnel.Header{Service: tunnel.ServiceProxy}).Write(st); err != nil {
			t.Fatal(err)
		}
		_, _ = st.Write(request) // the proxy may have closed the connection
		_ = st.CloseWrite()
		answer, _ := io.ReadAll(st) // whatever is left of it
		_ = st.Close()
		_ = session.Close()
		_ = gate.Close()
		<-served
		if len(answer) > 0 && !(len(answer) > 9 && string(answer[:7]) == "HTTP/1.") {
			t.Errorf("answered %.100q", answer)
		}
		for _, host := range resolver.names {
			if !admitted(host) {
				t.Errorf("looked up %q", host)
			}
		}
		for _, r := range records {
			for _, text := range []string{r.Name, r.Reason, r.Method} {
				for _, c := range []byte(text) {
					if c < 0x20 || c > 0x7e {
						t.Errorf("record %+q", text)
					}
				}
			}
		}
	})
}
