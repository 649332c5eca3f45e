package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestHealthNeedsNoTokenAndTellsNothing(t *testing.T) {
	t.Parallel()
	m := &machine{}
	r := newRig(t, func(o *Options) { o.Machine = m })
	if a := r.callAs("", http.MethodGet, "/healthz", ""); a.status != 200 || string(a.body) != "ok\n" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.callAs("", http.MethodGet, "/readyz", ""); a.status != 200 || string(a.body) != "ready\n" {
		t.Errorf("%d %s", a.status, a.body)
	}
	m.missing = "engine"
	r.server.ready.mu.Lock()
	r.server.ready.at = time.Time{}
	r.server.ready.mu.Unlock()
	if a := r.callAs("", http.MethodGet, "/readyz", ""); a.status != 503 || string(a.body) != "engine\n" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestMetricsAreCountedAndNeedTheToken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if a := r.callAs("", http.MethodGet, "/metrics", ""); a.status != 401 {
		t.Errorf("%d", a.status)
	}
	r.call("BREW", "/api/nothing-"+strings.Repeat("x", 100), "")
	text := string(r.call(http.MethodGet, "/metrics", "").body)
	for _, want := range []string{
		`sandboxrun_auth_failures_total{reason="missing"} 1`, `sandboxrun_build_info{version="test"} 1`,
		`sandboxrun_http_requests_total{code="401",method="GET",route="none"} 1`, `method="other",route="none"`, "process_resident_memory_bytes", "go_goroutines",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if strings.Contains(text, "nothing-") {
		t.Error("a label holds what a caller sent")
	}
}

func TestRequestsThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	head := func(line string, more ...string) string {
		return line + "\r\nHost: " + r.addr + "\r\nAuthorization: Bearer " + testToken + "\r\nConnection: close\r\n" + strings.Join(more, "")
	}
	get := "GET /metrics HTTP/1.1"
	for name, c := range map[string]struct{ request, status string }{
		"two hosts":             {head(get, "Host: evil.example\r\n\r\n"), "400"},
		"no host":               {get + "\r\nConnection: close\r\n\r\n", "400"},
		"absolute form":         {head("GET http://evil.example/metrics HTTP/1.1", "\r\n"), "421"},
		"two lengths":           {head("POST /execute HTTP/1.1", "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}"), "400"},
		"length and chunks":     {head("POST /metrics HTTP/1.1", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n0\r\n\r\n"), "4"},
		"odd transfer coding":   {head("POST /execute HTTP/1.1", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), "501"},
		"negative length":       {head("POST /execute HTTP/1.1", "Content-Length: -1\r\n\r\n"), "400"},
		"space before colon":    {head(get, "Authorization : Bearer x\r\n\r\n"), "400"},
		"line folded":           {head(get, "X-A: b\r\n c\r\n\r\n"), "200"}, // obsolete, and read in one way
		"bare line feed":        {"GET /metrics HTTP/1.1\nHost: evil.example\n\n", "421"},
		"dots":                  {head("GET /api/../metrics HTTP/1.1", "\r\n"), "404"},
		"encoded dots":          {head("GET /%2e%2e/metrics HTTP/1.1", "\r\n"), "404"},
		"encoded slash":         {head("GET /api%2fruns HTTP/1.1", "\r\n"), "404"},
		"two slashes":           {head("GET //metrics HTTP/1.1", "\r\n"), "404"},
		"slash at the end":      {head("GET /metrics/ HTTP/1.1", "\r\n"), "404"},
		"repeated parameter":    {head("GET /metrics?a=1&a=2 HTTP/1.1", "\r\n"), "400"},
		"semicolon":             {head("GET /metrics?a=1;b=2 HTTP/1.1", "\r\n"), "400"},
		"body of a GET":         {head(get, "Content-Length: 2\r\n\r\n{}"), "400"},
		"head of 40 KiB":        {head(get, "X-A: "+strings.Repeat("a", 40<<10)+"\r\n\r\n"), "431"},
		"many headers":          {head(get, strings.Repeat("X-A: a\r\n", 5000)+"\r\n"), "431"},
		"path of 10 KiB":        {head("GET /"+strings.Repeat("a", 10<<10)+" HTTP/1.1", "\r\n"), "414"},
		"HTTP/2 on plain text":  {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""},
		"other protocol":        {"SSH-2.0-x\r\n\r\n", "400"},
		"asterisk":              {head("OPTIONS * HTTP/1.1", "\r\n"), "4"},
		"authority form":        {"CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n", "421"},
		"upgrade to plain h2":   {head(get, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"), "200"}, // ignored
		"method with a control": {head("GE\x01T /metrics HTTP/1.1", "\r\n"), "400"},
	} {
		got := r.raw(c.request)
		if c.status == "" {
			if strings.Contains(got, " 200 ") {
				t.Errorf("%s: %s", name, got)
			}
		} else if !strings.HasPrefix(got, "HTTP/1.1 "+c.status) {
			t.Errorf("%s: %q, want %s", name, got, c.status)
		}
	}
}

func TestBodiesAreBoundedUncompressedJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("{}"))
	_ = z.Close()
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"too large":  {strings.Repeat(" ", maxBody+1), nil, 413},
		"form":       {"a=b", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		"plain text": {"{}", []string{"Content-Type", "text/plain"}, 415},
		"charset":    {"{}", []string{"Content-Type", "application/json; charset=utf-16"}, 415},
		"compressed": {packed.String(), []string{"Content-Encoding", "gzip"}, 415},
		"unknown":    {"{}", nil, 404},
	} {
		if a := r.call(http.MethodPost, "/nothing", c.body, c.header...); a.status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, a.status, c.status, a.body)
		}
	}
	if a := r.call(http.MethodPost, "/metrics", "{}"); a.status != 405 || a.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("another method: %d %v", a.status, a.header)
	}
}

// A caller that sends its head byte by byte is cut off.
func TestSlowHeadIsCutOff(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_ = c.SetReadDeadline(began.Add(3 * headTimeout))
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("the server kept the connection: %v", err)
	}
	if took := time.Since(began); took > 2*headTimeout {
		t.Errorf("cut off after %s", took)
	}
}

func TestCallersOfTheSameUserNeedNoTokenOnTheSocket(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", r.socket)
	}}}
	defer client.CloseIdleConnections()
	for host, want := range map[string]int{"localhost": 200, "evil.example": 421} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/metrics", nil)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, res.StatusCode, want)
		}
	}
}

func TestLogHoldsNeitherTokenNorQuery(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call(http.MethodGet, "/api/none?q=my-private-words", "")
	r.callAs("Bearer "+testToken[:60]+"beef", http.MethodGet, "/api/none", "")
	r.stop()
	text := r.log.String()
	if !strings.Contains(text, `"status":404`) || !strings.Contains(text, `"status":401`) {
		t.Errorf("requests are missing: %s", text)
	}
	for _, secret := range []string{testToken, testToken[:60], "my-private-words"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}
