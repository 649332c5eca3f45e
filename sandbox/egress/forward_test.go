package egress

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestEventsArriveBeforeTheStreamEnds(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	r := newRig(t, Config{Routes: []Route{provider(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		control := http.NewResponseController(w)
		for _, event := range []string{
			`{"type":"message_start","message":{"model":"m2","usage":{"input_tokens":7,"output_tokens":1,"cache_read_input_tokens":11,"cache_creation_input_tokens":13}}}`,
			`{"type":"content_block_delta","delta":{"text":"never mind the \"usage\""}}`,
			`{"type":"message_delta","delta":{},"usage":{"output_tokens":42}}`,
		} {
			fmt.Fprintf(w, "event: x\ndata: %s\n\n", event)
			if control.Flush() != nil {
				return
			}
			select {
			case <-seen: // the client has read this event, while the answer is still open
			case <-req.Context().Done():
				return
			}
		}
	})}})
	req := r.question(t.Context(), t, strings.NewReader(small))
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	events := 0
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data:") {
			events++
			seen <- struct{}{}
		}
	}
	if events != 3 {
		t.Errorf("%d events", events)
	}
	recs := r.recorded(KindRequest)
	want := Usage{Model: "m2", InputTokens: 7, OutputTokens: 42, CacheReadTokens: 11, CacheWriteTokens: 13}
	if len(recs) != 1 || recs[0].Usage != want || recs[0].Reason != "" {
		t.Errorf("records: %+v", recs)
	}
}

// A gateway that repeats the request in a good answer, in any encoding, does not reveal the key to the box.
func TestRepeatedKeyIsRedactedInAnyEncoding(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]func(string) string{
		"as it is":      func(k string) string { return k },
		"base64":        func(k string) string { return base64.StdEncoding.EncodeToString([]byte("key: " + k + "\n")) },
		"hexadecimal":   func(k string) string { return hex.EncodeToString([]byte(k)) },
		"percent":       func(k string) string { return strings.ReplaceAll(k, "-", "%2D") },
		"JSON escapes":  func(k string) string { return strings.ReplaceAll(k, "k", `\u006b`) },
		"over 4 events": func(k string) string { return k },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Config{Routes: []Route{provider(t, func(w http.ResponseWriter, req *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				text := "data: " + form(req.Header.Get("X-Api-Key")) + " end\n\n"
				pieces := 1
				if strings.HasPrefix(name, "over") {
					pieces = 4
				}
				for i := range pieces {
					fmt.Fprint(w, text[i*len(text)/pieces:(i+1)*len(text)/pieces])
					_ = http.NewResponseController(w).Flush()
				}
			})}})
			status, answer, _ := r.ask(t, small)
			secret := form(testKey)
			if status != 200 || !strings.HasPrefix(answer, "data: ") || !strings.HasSuffix(answer, " end\n\n") {
				t.Errorf("%d %q", status, answer)
			}
			if strings.Contains(answer, secret) || strings.Contains(answer, testKey) || !strings.Contains(answer, "[redacted:key]") {
				t.Errorf("the key is in %q", answer)
			}
		})
	}
}

// An answer that cannot be searched must not reach the box.
func TestUnrequestedEncodingIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Routes: []Route{provider(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, req.Header.Get("X-Api-Key"))
		_ = z.Close()
	})}})
	status, answer, _ := r.ask(t, small)
	if status != http.StatusBadGateway || !strings.Contains(answer, "encoding") {
		t.Errorf("%d %q", status, answer)
	}
}

func TestKeyReachesNeitherTheBoxNorTheRecords(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 400, 401, 429, 500, 529} {
		r := newRig(t, Config{Routes: []Route{provider(t, func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Request-Id", "for "+req.Header.Get("X-Api-Key"))
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":"bad key %s"}}`, req.Header.Get("X-Api-Key"))
		})}})
		got, answer, header := r.ask(t, small)
		if got != status || header.Get("Retry-After") != "7" || !strings.Contains(answer, "bad key") {
			t.Errorf("%d: got %d %s %v", status, got, answer, header)
		}
		recs := r.recorded(KindRequest)
		if len(recs) != 1 || recs[0].Status != status {
			t.Errorf("records: %+v", recs)
		}
		if all := fmt.Sprint(answer, header, recs); strings.Contains(all, testKey) {
			t.Errorf("%d: the key is in %s", status, all)
		}
	}
}

func TestUpstreamFailuresHaveTheProvidersErrorShape(t *testing.T) {
	t.Parallel()
	gone := provider(t, nil)
	gone.base = mustURL(t, "http://"+closedAddress(t))
	noKey := provider(t, unreachable(t))
	noKey.key = func(context.Context) (Credential, error) {
		return CredentialOf(testKey), errors.New("cannot read /secret/" + testKey)
	}
	unknown := httptest.NewTLSServer(unreachable(t)) // with a certificate this machine does not trust
	defer unknown.Close()
	unknown.Config.ErrorLog = silent
	untrusted := provider(t, nil)
	untrusted.base = mustURL(t, unknown.URL)
	redirects := provider(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusTemporaryRedirect)
	})
	for name, c := range map[string]struct {
		route  Route
		status int
	}{
		"no listener": {gone, 502},
		"no key":      {noKey, 401},
		"redirect":    {redirects, 502},
		"untrusted":   {untrusted, 502},
	} {
		r := newRig(t, Config{Routes: []Route{c.route}})
		status, answer, header := r.ask(t, small)
		if status != c.status || !strings.HasPrefix(answer, `{"error":{"message":"sandboxrun: `) || !strings.Contains(answer, `"type":"error"`) {
			t.Errorf("%s: %d %s", name, status, answer)
		}
		recs := r.recorded(KindRequest)
		if len(recs) != 1 || recs[0].Status != c.status || recs[0].Reason == "" {
			t.Errorf("%s: records %+v", name, recs)
		}
		// Only a provider that gave no answer counts as one, and the reason has no address.
		want := map[string]string{"no listener": "connection refused", "untrusted": "certificate"}[name]
		if got := recs[0].Unreached; (got == "") != (want == "") || !strings.Contains(got, want) || strings.Contains(got, "127.0.0.1") {
			t.Errorf("%s: not reached: %q", name, got)
		}
		if all := fmt.Sprint(answer, header, recs); strings.Contains(all, testKey) || strings.Contains(all, "169.254") || strings.Contains(all, "/secret") {
			t.Errorf("%s: revealed too much: %s", name, all)
		}
	}
}

func closedAddress(t *testing.T) string {
	t.Helper()
	l := listen(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

func TestRequestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Limits: Limits{RequestBody: 1 << 20}, Routes: []Route{provider(t, func(w http.ResponseWriter, req *http.Request) {
		n, _ := io.Copy(io.Discard, req.Body)
		fmt.Fprint(w, n)
	})}})
	whole := `{"model":"m","system":"` + strings.Repeat("x", 1<<20-25) + `"}`
	if status, answer, _ := r.ask(t, whole); len(whole) != 1<<20 || status != 200 || answer != "1048576" {
		t.Errorf("at the limit: %d %s", status, answer)
	}
	for name, body := range map[string]io.Reader{
		"announced": bytes.NewReader(make([]byte, 1<<20+1)),
		"chunked":   io.LimitReader(zeros{}, 3<<20),
	} {
		req := r.question(t.Context(), t, body)
		res, err := r.client.Do(req)
		if err != nil {
			continue // the broker closed the connection before the end of the body
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Error(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestCutAnswersAreCutForTheBox(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Routes: []Route{provider(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "data: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})}})
	req := r.question(t.Context(), t, strings.NewReader(small))
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("the box saw a whole answer")
	}
	if recs := r.recorded(KindRequest); len(recs) != 1 || recs[0].Reason == "" || recs[0].Status != 200 {
		t.Errorf("records: %+v", recs)
	}
}

func TestAnswersStopAtTheByteBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Limits: Limits{BrokerBytes: 1 << 20}, Routes: []Route{provider(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, io.LimitReader(zeros{}, 4<<20))
	})}})
	req := r.question(t.Context(), t, strings.NewReader(small))
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if err == nil || n > 1<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if status, answer, _ := r.ask(t, small); status != 403 || !strings.Contains(answer, "budget") {
		t.Errorf("afterwards: %d %s", status, answer)
	}
}

func TestLeavingClientCancelsTheUpstreamRequest(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	r := newRig(t, Config{Routes: []Route{provider(t, func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body) // only then does the server notice that the client leaves
		close(began)
		<-req.Context().Done()
		close(ended)
	})}})
	ctx, cancel := context.WithCancel(t.Context())
	req := r.question(ctx, t, strings.NewReader(small))
	go func() {
		<-began
		cancel()
	}()
	if res, err := r.client.Do(req); err == nil {
		_ = res.Body.Close()
		t.Error("got an answer")
	}
	<-ended
	if recs := r.recorded(KindRequest); len(recs) != 1 || recs[0].Reason == "" {
		t.Errorf("records: %+v", recs)
	}
}

func TestClosingTheGateCutsRunningRequests(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	r := newRig(t, Config{Routes: []Route{provider(t, func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		fmt.Fprint(w, "data: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		close(began)
		<-req.Context().Done()
		close(ended)
	})}})
	go func() {
		<-began
		_ = r.gate.Close()
	}()
	req := r.question(t.Context(), t, strings.NewReader(small))
	res, err := r.client.Do(req)
	if err == nil {
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	if err == nil {
		t.Error("the answer was whole")
	}
	<-ended
	if _, err := r.client.Do(req.Clone(t.Context())); err == nil {
		t.Error("the token is still good")
	}
	if recs := r.recorded(KindRequest); len(recs) != 1 || recs[0].Reason == "" {
		t.Errorf("records: %+v", recs)
	}
}
