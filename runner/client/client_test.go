package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/endpoint"
)

// calling makes a client of a server that behaves as handle does.
func calling(t *testing.T, handle http.HandlerFunc) *Client {
	t.Helper()
	srv := httptest.NewServer(handle)
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	if _, err := endpoint.MakeToken(dir, false); err != nil {
		t.Fatal(err)
	}
	if err := endpoint.Announce(dir, endpoint.Endpoint{URL: srv.URL}); err != nil {
		t.Fatal(err)
	}
	c, err := New(dir, Auto)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestAnswersBecomeTheErrorsTheyReport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   string // kind of error
	}{
		"input":          {400, `{"error":{"type":"invalid_input","message":"m","details":[{"path":"/a","message":"n"}]}}`, "input"},
		"bridge":         {503, `{"error":{"type":"bridge_failure","message":"m"}}`, "bridge"},
		"token":          {401, `{"error":{"type":"invalid_input","message":"m"}}`, "bridge"},
		"internal":       {500, `{"error":{"type":"internal","message":"m"}}`, "other"},
		"no document":    {500, `<html>`, "bridge"},
		"another server": {404, `404 page not found`, "bridge"},
		"redirect":       {302, ``, "bridge"},
	} {
		client := calling(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://192.0.2.1/")
			w.WriteHeader(c.status)
			_, _ = fmt.Fprint(w, c.body)
		})
		var into any
		err := client.get(t.Context(), "/x", &into)
		input, isInput := errors.AsType[*document.InputError](err)
		_, isBridge := errors.AsType[*document.BridgeError](err)
		got := map[bool]string{true: "input"}[isInput] + map[bool]string{true: "bridge"}[isBridge]
		if got == "" {
			got = "other"
		}
		if err == nil || got != c.want || isInput && len(input.Details) != 1 {
			t.Errorf("%s: %s: %v", name, got, err)
		}
	}
}

func TestStreamsAreJoinedWhereTheyWereCut(t *testing.T) {
	t.Parallel()
	calls := 0
	line := func(n int) string {
		return fmt.Sprintf("id: %d\ndata: {\"seq\":%d,\"time\":\"2026-01-01T00:00:00Z\",\"run\":\"r\",\"phase\":\"agent\",\"kind\":\"raw\",\"data\":{}}\n\n", n, n)
	}
	client := calling(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		seen := r.Header.Get("Last-Event-ID")
		switch calls {
		case 1:
			_, _ = fmt.Fprint(w, "retry: 1000\n\n"+line(1)+line(2)+"event: caught_up\ndata: {}\n\n"+line(3)[:20])
		case 2:
			if seen != "2" {
				t.Errorf("came back with %q", seen)
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprint(w, `{"error":{"type":"bridge_failure","message":"stopping"}}`)
		default:
			_, _ = fmt.Fprint(w, line(2)+line(3)+": ping\n\nevent: end\ndata: {}\n\n"+line(9))
		}
	})
	var got []string
	for e, err := range client.Events(t.Context(), "r", 1, true) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(e.Seq))
	}
	if strings.Join(got, " ") != "1 2 3" || calls != 3 {
		t.Errorf("%v in %d calls", got, calls)
	}
}

func TestEndlessLinesAreRefused(t *testing.T) {
	t.Parallel()
	client := calling(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, "data: ")
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	began := time.Now()
	for _, err := range client.Events(t.Context(), "r", 1, true) {
		if err == nil {
			t.Error("an endless line is an event")
		}
	}
	if time.Since(began) > 10*time.Second {
		t.Error("it was read for too long")
	}
}
