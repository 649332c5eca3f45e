package guard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const token = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestOnlyCallersWithTheRightNameSiteAndTokenPass(t *testing.T) {
	t.Parallel()
	var reasons []string
	g := New(Options{Token: token, Port: 7311, Names: []string{"me.local"}, Refused: func(r string) { reasons = append(reasons, r) }})
	h := g.Protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), "/healthz")
	bearer := map[string]string{"Authorization": "Bearer " + token}
	with := func(more ...string) map[string]string {
		m := map[string]string{"Authorization": "Bearer " + token}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	for _, c := range []struct {
		host, path string
		header     map[string]string
		status     int
	}{
		{"127.0.0.1:7311", "/api/runs", bearer, 204},
		{"localhost:7311", "/api/runs", bearer, 204},
		{"LOCALHOST", "/api/runs", bearer, 204},
		{"[::1]:7311", "/api/runs", bearer, 204},
		{"[::1]", "/api/runs", bearer, 204},
		{"me.local:7311", "/api/runs", bearer, 204},
		{"127.0.0.1:7311", "/healthz", nil, 204},
		{"127.0.0.1:7311", "/api/runs", map[string]string{"Authorization": "bearer " + token}, 204},
		{"127.0.0.1:7311", "/api/runs", with("Origin", "http://127.0.0.1:7311", "Sec-Fetch-Site", "same-origin"), 204},
		{"127.0.0.1:7311", "/api/runs", with("Sec-Fetch-Site", "none"), 204},
		{"127.0.0.1:7311", "/api/runs/x/stream/ws", map[string]string{"Sec-WebSocket-Protocol": "sandboxrun.v1, bearer." + token}, 204},

		{"", "/healthz", nil, 421},
		{"evil.example", "/healthz", nil, 421},
		{"evil.example:7311", "/api/runs", bearer, 421},
		{"127.0.0.1.nip.io:7311", "/api/runs", bearer, 421},
		{"127.0.0.1:7312", "/api/runs", bearer, 421},
		{"localhost.:7311", "/api/runs", bearer, 421},
		{"127.0.0.1:7311.evil.example", "/api/runs", bearer, 421},
		{"127.1:7311", "/api/runs", bearer, 421},
		{"0.0.0.0:7311", "/api/runs", bearer, 421},
		{"127.0.0.1:7311", "/api/runs", with("Origin", "null"), 403},
		{"127.0.0.1:7311", "/api/runs", with("Origin", "http://127.0.0.1:3000"), 403},
		{"127.0.0.1:7311", "/api/runs", with("Origin", "https://127.0.0.1:7311"), 403},
		{"127.0.0.1:7311", "/api/runs", with("Origin", "http://127.0.0.1:7311.evil.example"), 403},
		{"127.0.0.1:7311", "/healthz", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"127.0.0.1:7311", "/api/runs", with("Sec-Fetch-Site", "same-site"), 403},
		{"127.0.0.1:7311", "/api/runs", nil, 401},
		{"127.0.0.1:7311", "/nothing", nil, 401},
		{"127.0.0.1:7311", "/api/runs?token=" + token, nil, 401},
		{"127.0.0.1:7311", "/api/runs", map[string]string{"Cookie": "token=" + token}, 401},
		{"127.0.0.1:7311", "/api/runs", map[string]string{"Authorization": "Bearer " + token[:63]}, 401},
		{"127.0.0.1:7311", "/api/runs", map[string]string{"Authorization": "Bearer " + token + "0"}, 401},
		{"127.0.0.1:7311", "/api/runs", map[string]string{"Authorization": "Bearer " + strings.ToUpper(token)}, 401},
		{"127.0.0.1:7311", "/api/runs", map[string]string{"Authorization": "Bearer  " + token}, 401},
		{"127.0.0.1:7311", "/api/runs", map[string]string{"Authorization": "Basic " + token}, 401},
		{"127.0.0.1:7311", "/api/runs", map[string]string{"Authorization": token}, 401},
		{"127.0.0.1:7311", "/api/runs", map[string]string{"Sec-WebSocket-Protocol": "bearer." + token}, 401},
		{"127.0.0.1:7311", "/healthz/", nil, 401},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		r.Host = c.host
		for k, v := range c.header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s %s %v: %d, want %d: %s", c.host, c.path, c.header, w.Code, c.status, w.Body)
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers %v", c.path, w.Header())
		}
		if w.Code == 401 && (w.Header().Get("WWW-Authenticate") == "" || strings.Contains(w.Body.String(), token[:8])) {
			t.Errorf("%s: %v %s", c.path, w.Header(), w.Body)
		}
	}
	for _, want := range []string{"host", "origin", "missing", "wrong"} {
		if !strings.Contains(strings.Join(reasons, " "), want) {
			t.Errorf("no refusal was counted as %s", want)
		}
	}
}

func TestSecondAuthorizationHeaderIsRefused(t *testing.T) {
	t.Parallel()
	g := New(Options{Token: token, Port: 7311, Refused: func(string) {}})
	r := httptest.NewRequest(http.MethodGet, "/api/runs", nil)
	r.Host = "127.0.0.1:7311"
	r.Header["Authorization"] = []string{"Bearer " + token, "Bearer " + token}
	if _, reason, p := g.judge(r, false); p == nil || reason != "missing" {
		t.Errorf("%q, %v", reason, p)
	}
}

// A page's token counts like the server's own, and the request tells which page it is of.
func TestPagesHaveTokensOfTheirOwn(t *testing.T) {
	t.Parallel()
	g := New(Options{Token: token, Port: 7311, Refused: func(string) {}, Session: func(token string) (string, bool) { return "page", token == "of a page" }})
	for offered, want := range map[string]string{token: "", "of a page": "page", "other": "refused"} {
		r := httptest.NewRequest(http.MethodGet, "/api/runs", nil)
		r.Host = "127.0.0.1:7311"
		r.Header.Set("Authorization", "Bearer "+offered)
		got := "refused"
		g.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = Session(r.Context()) })).ServeHTTP(httptest.NewRecorder(), r)
		if got != want {
			t.Errorf("%q: %q", offered, got)
		}
	}
}
