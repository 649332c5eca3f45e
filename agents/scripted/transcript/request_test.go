package transcript_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/agents"
	"sandboxrun/agents/scripted/transcript"
)

// visit is a host that makes three requests, one of them to a stream of events,
// and tells what it saw.
func visit(ctx context.Context, dial agents.Dial, body string) (string, error) {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, 4096) }}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var out strings.Builder
	for _, r := range []struct{ method, path, body string }{
		{http.MethodGet, "/health", ""}, {http.MethodPost, "/session?x=1", body}, {http.MethodGet, "/event", ""}, {http.MethodGet, "/broken", ""},
	} {
		req, err := http.NewRequestWithContext(ctx, r.method, "http://box"+r.path, strings.NewReader(r.body))
		if err != nil {
			return "", err
		}
		req.Header.Set("Authorization", "secret")
		resp, err := client.Do(req)
		if err != nil {
			fmt.Fprintf(&out, "%s: broken\n", r.path)
			continue
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		fmt.Fprintf(&out, "%s: %d %s %q %v\n", r.path, resp.StatusCode, resp.Header.Get("Content-Type"), b, err)
	}
	return out.String(), nil
}

// recordVisit records a visit to a real server.
func recordVisit(t *testing.T, body string) (seen, file string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	mux.HandleFunc("/session", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/event", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"n\":1}\n\nevent: x\n\n")
	})
	mux.HandleFunc("/broken", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	server := httptest.NewServer(mux)
	defer server.Close()
	rec := transcript.Record()
	seen, err := visit(t.Context(), rec.Dial(func(ctx context.Context, _ int) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}), body)
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Close(); err != nil {
		t.Error(err)
	}
	entries, err := rec.Entries()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := transcript.Write(&b, entries); err != nil {
		t.Fatal(err)
	}
	return seen, b.String()
}

// playVisit plays a recorded visit to the same host.
func playVisit(t *testing.T, file, body string) (seen string, end error) {
	t.Helper()
	entries, err := transcript.Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		p := transcript.Play(entries, nil)
		seen, err = visit(t.Context(), p.Dial, body)
		if err != nil {
			t.Error(err)
		}
		end = p.End()
	})
	return seen, end
}

func TestPlayerAnswersAsTheServerDid(t *testing.T) {
	t.Parallel()
	live, file := recordVisit(t, `{"title":"x"}`)
	if !strings.Contains(live, "/broken: broken") || !strings.Contains(live, `/event: 200 text/event-stream "data: {\"n\":1}\n\nevent: x\n\n"`) {
		t.Fatalf("seen live: %s", live)
	}
	if strings.Contains(file, "secret") || !strings.Contains(file, `"data":{"n":1}`) {
		t.Errorf("the file holds a credential, or is not readable:\n%s", file)
	}
	played, err := playVisit(t, file, `{ "title": "x" }`)
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(live, played); diff != "" {
		t.Errorf("-live +played:\n%s", diff)
	}
}

func TestPlayerNamesARequestThatIsAnother(t *testing.T) {
	t.Parallel()
	_, file := recordVisit(t, `{"title":"x"}`)
	if _, err := playVisit(t, file, `{"title":"y"}`); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("end = %v", err)
	}
	if _, err := playVisit(t, strings.ReplaceAll(file, "/health", "/other"), `{"title":"x"}`); err == nil ||
		!strings.Contains(err.Error(), "the host never said") || !strings.Contains(err.Error(), "it said: GET /health") {
		t.Errorf("end = %v", err)
	}
}
