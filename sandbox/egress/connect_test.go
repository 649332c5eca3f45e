package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sandboxrun/sandbox/egress/tunnel"
)

func TestConnectCarriesTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "secret of ", r.Host)
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, Config{Allow: []string{"example.com:" + port}, AllowPrivate: true, Resolver: names{"example.com": {"127.0.0.1"}}})
	tr := r.client.Transport.(*http.Transport)
	tr.Proxy = http.ProxyURL(mustURL(t, r.proxy))
	tr.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com:"+port+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, answer, _ := r.do(t, req); status != 200 || answer != "secret of example.com:"+port {
		t.Errorf("%d %s", status, answer)
	}
	recs := r.recorded(KindConnect)
	if len(recs) != 1 || recs[0].RequestBytes == 0 || recs[0].ResponseBytes == 0 || recs[0].Method != "CONNECT" {
		t.Errorf("records: %+v", recs)
	}
}

// echo is a server that sends back its input, and then " bye".
func echo(t *testing.T) (port string) {
	t.Helper()
	l := listen(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(conn, conn)
			_, _ = io.WriteString(conn, "bye")
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// connect opens a tunnel to a target, sending early bytes with the request.
func (r *rig) connect(t *testing.T, target, early string) (*net.TCPConn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.proxy, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n%s", target, target, early); err != nil {
		t.Fatal(err)
	}
	br := bufio.NewReader(conn)
	res, err := http.ReadResponse(br, &http.Request{Method: http.MethodConnect})
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("connect %s: %v %v", target, res, err)
	}
	return conn.(*net.TCPConn), br
}

func TestConnectPassesOnHalfCloseAndEarlyBytes(t *testing.T) {
	t.Parallel()
	target := "site.test:" + echo(t)
	r := newProxyRig(t, target)
	conn, br := r.connect(t, target, "early ")
	if _, err := io.WriteString(conn, "late "); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(br); err != nil || string(b) != "early late bye" {
		t.Errorf("%q %v", b, err)
	}
	if recs := r.recorded(KindConnect); len(recs) != 1 || recs[0].Reason != "" || recs[0].RequestBytes != 11 || recs[0].ResponseBytes != 14 {
		t.Errorf("records: %+v", recs)
	}
}

func TestClosingTheAllowListCutsTunnels(t *testing.T) {
	t.Parallel()
	kept, cut := "site.test:"+echo(t), "other.test:"+echo(t)
	r := newProxyRig(t, kept, cut)
	keptConn, keptReader := r.connect(t, kept, "")
	_, cutReader := r.connect(t, cut, "")
	if err := r.gate.SetAllow([]string{"not a name", kept}); err == nil {
		t.Error("a bad list was accepted")
	}
	if err := r.gate.SetAllow([]string{kept}); err != nil {
		t.Fatal(err)
	}
	if b, err := cutReader.ReadByte(); err == nil {
		t.Errorf("the withdrawn tunnel sent %q", b)
	}
	if _, err := io.WriteString(keptConn, "x"); err != nil {
		t.Fatal(err)
	}
	if b, err := keptReader.ReadByte(); err != nil || b != 'x' {
		t.Errorf("the kept tunnel: %q %v", b, err)
	}
	if got := r.raw(t, r.proxy, "CONNECT "+cut+" HTTP/1.1\r\nHost: x\r\n\r\n"); got != 403 {
		t.Errorf("connecting again: %d", got)
	}
	if err := r.gate.SetAllow(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := keptReader.ReadByte(); err == nil {
		t.Error("a tunnel outlived the empty list")
	}
	for _, rec := range r.recorded(KindConnect) {
		if rec.Reason != errWithdrawn.Error() {
			t.Errorf("record: %+v", rec)
		}
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits Limits
		send   int
		want   error
	}{
		"bytes": {Limits{ConnectionBytes: 1000}, 2000, tunnel.ErrByteLimit},
		"idle":  {Limits{ConnectionIdle: time.Millisecond}, 0, tunnel.ErrIdle},
		"time":  {Limits{ConnectionTime: time.Millisecond}, 0, tunnel.ErrLifetime},
	} {
		target := "site.test:" + echo(t)
		r := newRig(t, Config{Limits: c.limits, Allow: []string{target}, AllowPrivate: true, Resolver: names{"site.test": {"127.0.0.1"}}})
		conn, br := r.connect(t, target, "")
		if _, err := conn.Write(make([]byte, c.send)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, br); errors.Is(err, tunnel.ErrIdle) {
			t.Fatal(err)
		}
		if recs := r.recorded(KindConnect); len(recs) != 1 || recs[0].Reason != c.want.Error() {
			t.Errorf("%s: records %+v", name, recs)
		}
	}
}

func TestRefusalFloodsAreSummedUp(t *testing.T) {
	t.Parallel()
	var told []Record
	r := newRecorder(func(rec Record) { told = append(told, rec) })
	for i := range 3 * recordsPerRun {
		r.add(Record{Kind: KindDenied, Name: fmt.Sprint("host-", i), Reason: "no"})
		r.add(Record{Kind: KindDenied, Name: "same\r\n\x1b[31m" + strings.Repeat("x", 10_000), Reason: "no"})
		r.add(Record{Kind: KindConnect, Name: "x"})
	}
	r.flush()
	total, connected := 0, 0
	for _, rec := range told {
		if rec.Kind == KindDenied {
			total += rec.Count
		} else {
			connected += rec.Count
		}
		if len(rec.Name) > maxText+3 || strings.ContainsAny(rec.Name, "\r\n\x1b") {
			t.Fatalf("name %q", rec.Name)
		}
	}
	if total != 6*recordsPerRun || connected != 3*recordsPerRun || len(told) > 2*recordsPerRun+3 {
		t.Errorf("%d refusals and %d connections in %d records", total, connected, len(told))
	}
}
