package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// site is a web server reached as site.test, and its port.
func site(t *testing.T, h http.HandlerFunc) (port string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func newProxyRig(t *testing.T, allow ...string) *rig {
	t.Helper()
	r := newRig(t, Config{
		Allow: allow, AllowPrivate: true,
		Resolver: names{"site.test": {"127.0.0.1"}, "other.test": {"127.0.0.1"}},
	})
	r.client.Transport.(*http.Transport).Proxy = http.ProxyURL(mustURL(t, r.proxy))
	return r
}

func TestProxyForwardsPlainRequests(t *testing.T) {
	t.Parallel()
	port := site(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", "http://elsewhere.test/")
		w.WriteHeader(http.StatusFound)
		fmt.Fprintf(w, "%s %s %s %s %q %q", r.Method, r.Host, r.RequestURI, b, r.Header.Get("Proxy-Authorization"), r.Header.Get("X-Forwarded-For"))
	})
	r := newProxyRig(t, "site.test:"+port)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://site.test:"+port+"/a%2Fb?c=d", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Proxy-Authorization", "Basic x")
	status, answer, _ := r.do(t, req)
	if want := fmt.Sprintf(`PUT site.test:%s /a%%2Fb?c=d body "" ""`, port); status != http.StatusFound || answer != want {
		t.Errorf("%d %s, want %s", status, answer, want)
	}
	recs := r.recorded(KindConnect)
	if len(recs) != 1 || recs[0].Name != "site.test:"+port || recs[0].Status != 302 || recs[0].RequestBytes != 4 || recs[0].ResponseBytes != int64(len(answer)) {
		t.Errorf("records: %+v", recs)
	}
}

func TestProxyIgnoresADifferentHostHeader(t *testing.T) {
	t.Parallel()
	var host string
	port := site(t, func(_ http.ResponseWriter, r *http.Request) { host = r.Host })
	r := newProxyRig(t, "site.test:"+port)
	if got := r.raw(t, r.proxy, "GET http://site.test:"+port+"/ HTTP/1.1\r\nHost: other.test\r\n\r\n"); got != 200 {
		t.Errorf("status %d", got)
	}
	if host != "site.test:"+port {
		t.Errorf("the site saw host %q", host)
	}
}

func TestProxyRefusesAndRecordsEverythingElse(t *testing.T) {
	t.Parallel()
	port := site(t, unreachable(t))
	r := newProxyRig(t, "site.test:443", "*.site.test")
	lines := []string{
		"CONNECT site.test:" + port, "CONNECT site.test:22", "CONNECT other.test:443", "CONNECT 127.0.0.1:" + port, "CONNECT [::1]:443",
		"CONNECT localhost:" + port, "CONNECT 2130706433:443", "CONNECT 0x7f.1:443", "CONNECT 0177.0.0.1:443", "CONNECT 169.254.169.254:80",
		"CONNECT site.test", "CONNECT user@site.test:443", "CONNECT site.test:443@other.test:443", "CONNECT evil.test#site.test:443",
		"GET http://other.test/", "GET http://site.test:" + port + "/", "GET http://u:p@a.site.test/", "GET https://a.site.test/",
		"GET /path", "GET http://127.0.0.1:" + port + "/", "GET ftp://a.site.test/", "TRACE http://a.site.test/", "OPTIONS *",
		"GET http://site.test%00.evil.test/", "GET http://a.site.test%2eevil.test/",
	}
	refused := 0
	for _, line := range lines {
		switch got := r.raw(t, r.proxy, line+" HTTP/1.1\r\nHost: a.site.test\r\n\r\n"); got {
		case http.StatusForbidden:
			refused++
		case http.StatusBadRequest: // net/http does not parse it
		default:
			t.Errorf("%s: status %d", line, got)
		}
	}
	recs := r.recorded(KindDenied)
	total := 0
	asked := map[string]bool{}
	for _, rec := range recs {
		total += rec.Count
		asked[rec.Name] = true
		if rec.Reason == "" || strings.ContainsAny(rec.Name, "\r\n\x00") {
			t.Errorf("record: %+v", rec)
		}
	}
	if total != refused || refused < len(lines)-5 {
		t.Errorf("%d requests, %d refused, %d recorded", len(lines), refused, total)
	}
	for _, name := range []string{"site.test:22", "other.test:443", "other.test:80", "169.254.169.254:80"} {
		if !asked[name] {
			t.Errorf("%s is not in %v", name, asked)
		}
	}
}

func TestProxyRefusesPrivateAddressesBehindAllowedNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{
		Allow:    []string{"site.test", "meta.test", "gone.test"},
		Resolver: names{"site.test": {"127.0.0.1", "172.17.0.1"}, "meta.test": {"169.254.169.254", "fd00:ec2::254"}},
	})
	for _, line := range []string{"CONNECT site.test:443", "CONNECT meta.test:80", "GET http://meta.test/latest/", "GET http://site.test/"} {
		if got := r.raw(t, r.proxy, line+" HTTP/1.1\r\nHost: x\r\n\r\n"); got != http.StatusForbidden {
			t.Errorf("%s: %d", line, got)
		}
	}
	if got := r.raw(t, r.proxy, "CONNECT gone.test:443 HTTP/1.1\r\nHost: x\r\n\r\n"); got != http.StatusBadGateway {
		t.Errorf("a name without address: %d", got)
	}
	if recs := r.recorded(KindDenied); len(recs) != 4 || !strings.Contains(recs[0].Reason, errPrivate.Error()) ||
		recs[0].Address != "127.0.0.1" || recs[1].Address != "169.254.169.254" || strings.Contains(recs[0].Reason, "127.0.0.1") {
		t.Errorf("records: %+v", recs)
	}
}

func TestSmuggledAndOversizedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	port := site(t, unreachable(t))
	r := newProxyRig(t, "site.test:"+port)
	for name, request := range map[string]string{
		"two lengths":       "POST http://site.test:" + port + "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"two hosts":         "GET http://site.test:" + port + "/ HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"bad encoding":      "POST http://site.test:" + port + "/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, x\r\n\r\n",
		"space in a header": "GET http://site.test:" + port + "/ HTTP/1.1\r\nHost : x\r\n\r\n",
		"huge header":       "GET http://site.test:" + port + "/ HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n",
		"garbage":           "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.proxy, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Logf("%s: refused while sending: %v", name, err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && (res.StatusCode < 400 || res.StatusCode == 502) {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
		_ = conn.Close()
	}
}
