package httpapi

import (
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func (r *rig) page(path string, header ...string) (*http.Response, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+r.addr+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	var body io.Reader = res.Body
	if res.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			r.t.Fatal(err)
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res, string(text)
}

// The page needs no token, is the same for everybody, and carries the policy that keeps strangers' text from becoming code.
func TestThePageIsServed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	res, page := r.page("/")
	policy := res.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "trusted-types 'none'", "require-trusted-types-for 'script'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || res.StatusCode != 200 || res.Header.Get("Cache-Control") != "no-cache" || res.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	if strings.Contains(page, r.addr) || strings.Contains(page, testToken) {
		t.Error("the page tells something about this server")
	}
	parts := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(parts) != 3 {
		t.Fatalf("the page loads %v", parts)
	}
	kinds := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
	for _, part := range parts {
		plain, whole := r.page(part[1])
		zipped, same := r.page(part[1], "Accept-Encoding", "br, gzip;q=0.8")
		if plain.StatusCode != 200 || whole == "" || whole != same || plain.Header.Get("Content-Encoding") != "" || zipped.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %d, %d bytes plain, %d zipped", part[1], plain.StatusCode, len(whole), len(same))
		}
		if want := kinds[part[1][strings.LastIndex(part[1], "."):]]; plain.Header.Get("Content-Type") != want || !strings.Contains(plain.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %v", part[1], plain.Header)
		}
		if refused, _ := r.page(part[1], "Accept-Encoding", "gzip;q=0"); refused.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: zipped for a reader that does not want it", part[1])
		}
	}
}

// Nothing else is open: neither what lies beside the page's files, nor the page under another name or from another site.
func TestOnlyThePageItselfIsOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range []string{"/manifest.json", "/assets/", "/assets", "/assets/page.js", "/index.html", "/src/page.tsx", "//", "/api/runs"} {
		if res, body := r.page(path); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d %.100s", path, res.StatusCode, body)
		}
	}
	if res, _ := r.page("/", "Origin", "http://127.0.0.1:1"); res.StatusCode != http.StatusForbidden {
		t.Errorf("from another port: %d", res.StatusCode)
	}
	if a := r.callAs("", http.MethodPost, "/", "{}"); a.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d %s", a.status, a.body)
	}
}
