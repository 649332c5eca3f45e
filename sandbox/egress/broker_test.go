package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"sandboxrun/internal/wire"
)

func TestBrokerSwapsThePlaceholderForTheKey(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"X-Api-Key: " + testToken, "Authorization: Bearer " + testToken, "authorization: bearer " + testToken} {
		var got http.Header
		var body string
		r := newRig(t, Config{Routes: []Route{provider(t, func(w http.ResponseWriter, req *http.Request) {
			got = req.Header.Clone()
			b, _ := io.ReadAll(req.Body)
			body = req.Host + req.URL.RequestURI() + string(b)
			w.Header().Set("Set-Cookie", "a=b")
			w.Header().Set("X-Secret", "internal")
			w.Header().Set("Request-Id", "req_1")
			fmt.Fprint(w, `{"model":"m1","usage":{"input_tokens":3,"output_tokens":5}}`)
		})}})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.broker+"/anthropic/v1/messages?beta=true", strings.NewReader(small))
		if err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
		req.Header.Set("Content-Type", "application/json")
		for _, extra := range []string{"Cookie", "X-Forwarded-For", "Forwarded", "Proxy-Authorization", "Via", "X-Goog-Api-Key"} {
			req.Header.Set(extra, testToken)
		}
		req.Header.Set("Anthropic-Version", "2023-06-01")
		req.Header.Set("X-Stainless-Lang", "js")
		status, answer, headers := r.do(t, req)
		if status != 200 || !strings.Contains(answer, "m1") {
			t.Fatalf("%s: %d %s", header, status, answer)
		}
		if got.Get("X-Api-Key") != testKey || got.Get("Anthropic-Version") != "2023-06-01" || got.Get("X-Stainless-Lang") != "js" {
			t.Errorf("upstream headers: %v", got)
		}
		if strings.Contains(fmt.Sprint(got), testToken) {
			t.Errorf("the placeholder reached the provider: %v", got)
		}
		if !strings.HasSuffix(body, "/v1/messages?beta=true"+small) || strings.Contains(body, r.broker) {
			t.Errorf("upstream saw %q", body)
		}
		if headers.Get("Request-Id") != "req_1" || headers.Get("Set-Cookie") != "" || headers.Get("X-Secret") != "" {
			t.Errorf("headers back: %v", headers)
		}
		recs := r.recorded(KindRequest)
		if len(recs) != 1 {
			t.Fatalf("records: %+v", recs)
		}
		rec := recs[0]
		want := Usage{Model: "m1", InputTokens: 3, OutputTokens: 5}
		if rec.Usage != want || rec.Status != 200 || rec.RequestBytes != int64(len(small)) || rec.ResponseBytes != int64(len(answer)) ||
			rec.Provider != "anthropic" || rec.Path != "/v1/messages" || rec.Method != "POST" || rec.Count != 1 {
			t.Errorf("record: %+v", rec)
		}
	}
}

func TestBrokerRefusesWithoutThePlaceholder(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Routes: []Route{provider(t, unreachable(t))}})
	for _, token := range []string{"", "wrong", testToken + "x", testToken[1:], testKey} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.broker+"/anthropic/v1/messages", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", token)
		status, answer, _ := r.do(t, req)
		if status != http.StatusUnauthorized || !strings.Contains(answer, `"authentication_error"`) {
			t.Errorf("token %q: %d %s", token, status, answer)
		}
	}
	if recs := r.recorded(KindDenied); len(recs) != 2 || recs[1].Count != 4 {
		t.Errorf("want the refusal once and its repetitions as a sum: %+v", recs)
	}
}

func unreachable(t *testing.T) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) { t.Errorf("reached the provider: %s %s", r.Method, r.URL) }
}

// TestBrokerForwardsOnlyListedCalls writes raw requests, because a client library would normalize the tricks.
func TestBrokerForwardsOnlyListedCalls(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Routes: []Route{provider(t, unreachable(t))}})
	for _, line := range []string{
		"GET /anthropic/v1/messages", "DELETE /anthropic/v1/messages",
		"POST /anthropic/v1/files", "GET /anthropic/v1/organizations", "GET /anthropic/v1/models",
		"POST /anthropic/v1/messages/", "POST /anthropic/v1/messages/../files", "POST /anthropic/v1/./messages",
		"POST /anthropic//v1/messages", "POST //anthropic/v1/messages", "POST /anthropic//evil.example/v1/messages",
		"POST /anthropic/v1%2fmessages", "POST /anthropic/v1/messages%2e%2e", "POST /anthropic/%2e%2e/v1/messages",
		"POST /anthropic/v1/messages%00", "POST /anthropic/v1\\messages", "POST /anthropic/@evil.example/v1/messages",
		"POST /anthropic/v1/messages?beta=true&key=x", "POST /anthropic/v1/messages?url=http://evil", "POST /anthropic/v1/messages?a;b",
		"POST /openai/v1/messages", "POST /v1/messages", "POST /anthropic", "POST /", "OPTIONS *",
		"POST http://evil.example/anthropic/v1/messages", "POST @evil.example/anthropic/v1/messages",
		"CONNECT evil.example:443",
	} {
		status := r.raw(t, r.broker, line+" HTTP/1.1\r\nHost: h\r\nX-Api-Key: "+testToken+"\r\nContent-Length: 0\r\n\r\n")
		if status != 403 && status != 404 && status != 400 {
			t.Errorf("%s: status %d", line, status)
		}
	}
}

// raw sends bytes to one of the guest's ports and returns the answer's status.
func (r *rig) raw(t *testing.T, base, request string) int {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ") // an answer to HEAD has no body
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

func TestBrokerRefusesUpgrades(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Routes: []Route{provider(t, unreachable(t))}})
	if got := r.raw(t, r.broker, "POST /anthropic/v1/messages HTTP/1.1\r\nHost: h\r\nX-Api-Key: "+testToken+
		"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"); got != http.StatusForbidden {
		t.Errorf("status %d", got)
	}
}

func TestBrokerAnswersTheConnectivityCheckItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Routes: []Route{provider(t, unreachable(t))}})
	if got := r.raw(t, r.broker, "HEAD /anthropic/api/hello HTTP/1.1\r\nHost: h\r\n\r\n"); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	if recs := r.recorded(KindDenied); len(recs) != 0 {
		t.Errorf("records: %+v", recs)
	}
}

func TestBrokerStopsAtTheRequestBudget(t *testing.T) {
	t.Parallel()
	calls := 0
	r := newRig(t, Config{Limits: Limits{Requests: 2}, Routes: []Route{provider(t, func(http.ResponseWriter, *http.Request) { calls++ })}})
	var statuses []int
	for range 4 {
		status, _, _ := r.ask(t, small)
		statuses = append(statuses, status)
	}
	if fmt.Sprint(statuses) != "[200 200 403 403]" || calls != 2 {
		t.Errorf("statuses %v, calls %d", statuses, calls)
	}
}

func TestNewGateRefusesBadRoutes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		provider, base string
		key            KeyFunc
		wires          []wire.Wire
	}{
		"user in url":  {"p", "https://u:p@api.example", StaticKey("k"), wire.All()},
		"query in url": {"p", "https://api.example?x=1", StaticKey("k"), wire.All()},
		"scheme":       {"p", "ftp://api.example", StaticKey("k"), wire.All()},
		"no host":      {"p", "https:///v1", StaticKey("k"), wire.All()},
		"no key":       {"p", "https://api.example", nil, wire.All()},
		"name":         {"a/b", "https://api.example", StaticKey("k"), wire.All()},
		"no wire":      {"p", "https://api.example", StaticKey("k"), nil},
		"unknown wire": {"p", "https://api.example", StaticKey("k"), []wire.Wire{"smoke-signals"}},
	} {
		if _, err := NewRoute(c.provider, mustURL(t, c.base), c.key, c.wires...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := NewRoute("p", nil, StaticKey("k"), wire.All()...); err == nil {
		t.Error("no url: accepted")
	}
	good := func() Route { return newRoute(t, "p", "https://api.example", StaticKey("k"), wire.All()...) }
	if _, err := NewGate(Config{Token: "t", Routes: []Route{{}}}); err == nil {
		t.Error("an empty route: accepted")
	}
	if _, err := NewGate(Config{Token: "t", Routes: []Route{good(), good()}}); err == nil {
		t.Error("the same provider twice: accepted")
	}
	if _, err := NewGate(Config{Routes: []Route{good()}}); err == nil {
		t.Error("no token: accepted")
	}
	gate, err := NewGate(Config{Token: "t", Routes: []Route{good()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := gate.Close(); err != nil {
		t.Fatal(err)
	}
}
