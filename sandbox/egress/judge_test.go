package egress

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sandboxrun/internal/wire"
	"sandboxrun/sandbox/egress/body"
)

func TestRefusedRequestsNeverReachTheProvider(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, target, body string
		headers            []string
		status             int
		recorded           string // the name in the record
	}{
		{"remote mcp", "/v1/messages", `{"model":"m","mcp_servers":[]}`, nil, 400, "p/v1/messages#/mcp_servers"},
		{"duplicate", "/v1/messages", `{"model":"m","mod\u0065l":"big"}`, nil, 400, "p/v1/messages#/model"},
		{"other model", "/v1/messages", `{"model":"big"}`, nil, 400, "p/v1/messages#/model"},
		{"stored", "/v1/responses", `{"model":"m"}`, nil, 400, "p/v1/responses"},
		{"beta", "/v1/messages", small, []string{"Anthropic-Beta", "files-api-2025-04-14"}, 400, "p/v1/messages#header Anthropic-Beta"},
		{"model of the path", "/v1beta/models/big:generateContent", `{}`, nil, 400, "p/v1beta/models/big:generateContent#/model"},
		{"compressed", "/v1/messages", small, []string{"Content-Encoding", "gzip"}, 415, "p/v1/messages"},
		{"compressed twice", "/v1/messages", small, []string{"Content-Encoding", "identity, br"}, 415, "p/v1/messages"},
		{"no type", "/v1/messages", small, []string{"Content-Type", ""}, 415, "p/v1/messages"},
		{"form", "/v1/messages", small, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "p/v1/messages"},
		{"charset", "/v1/messages", small, []string{"Content-Type", "application/json; charset=utf-16"}, 415, "p/v1/messages"},
		{"boundary", "/v1/messages", small, []string{"Content-Type", "application/json; boundary=x"}, 415, "p/v1/messages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			route := Under(body.Policy{Models: []string{"m"}}, newRoute(t, "p", providerURL(t), StaticKey(testKey), wire.All()...))
			r := newRig(t, Config{Routes: []Route{route}})
			req := r.question(t.Context(), t, strings.NewReader(c.body))
			req.URL.Path = "/p" + c.target
			for i := 0; i < len(c.headers); i += 2 {
				req.Header.Set(c.headers[i], c.headers[i+1])
			}
			status, answer, _ := r.do(t, req)
			if status != c.status || !strings.Contains(answer, "sandboxrun: ") {
				t.Errorf("%d %s, want %d", status, answer, c.status)
			}
			recs := r.recorded(KindDenied)
			if len(recs) != 1 || recs[0].Name != c.recorded || recs[0].Status != c.status || !recs[0].Judged {
				t.Errorf("records %+v, want %s", recs, c.recorded)
			}
		})
	}
}

func TestTheJudgedBytesAreForwarded(t *testing.T) {
	t.Parallel()
	const text = " {\n\t\"model\" : \"\\u006d\",\"system\":\"\\u0041 é \\/\",\r\n\"temperature\":1.0e0 } \n"
	base, asked := upstream(t)
	r := newRig(t, Config{Routes: []Route{Under(body.Policy{Models: []string{"m"}}, newRoute(t, "anthropic", base, StaticKey(testKey), wire.AnthropicMessages))}})
	for _, content := range []io.Reader{strings.NewReader(text), io.MultiReader(strings.NewReader(text))} { // announced, and in chunks
		req := r.question(t.Context(), t, content)
		req.Header.Set("Content-Type", "application/json; charset=UTF-8")
		if status, answer, _ := r.do(t, req); status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
		if got := <-asked; got.body != text || got.header.Get("Content-Length") != fmt.Sprint(len(text)) {
			t.Errorf("the provider saw %q, %v", got.body, got.header)
		}
	}
}

func TestGrantsOpenWhatTheyName(t *testing.T) {
	t.Parallel()
	base, asked := upstream(t)
	route := Under(body.Policy{Grants: []body.Grant{body.WebSearch}}, newRoute(t, "anthropic", base, StaticKey(testKey), wire.AnthropicMessages))
	r := newRig(t, Config{Routes: []Route{route}})
	if status, answer, _ := r.ask(t, `{"model":"m","tools":[{"type":"web_search_20250305","name":"web_search"}]}`); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	<-asked
	if status, answer, _ := r.ask(t, `{"model":"m","mcp_servers":[{}]}`); status != 400 || !strings.Contains(answer, "remote_mcp") {
		t.Errorf("%d %s", status, answer)
	}
}

// TestBodiesInMemoryAreBounded has more large requests at one time than may be held.
func TestBodiesInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	const size, held = 1 << 20, 3
	here, goOn := make(chan struct{}, 12), make(chan struct{})
	// The key is asked for while the body of its request is held. Without one, nothing is sent.
	key := func(context.Context) (Credential, error) {
		here <- struct{}{}
		<-goOn
		return Credential{}, context.Canceled
	}
	r := newRig(t, Config{
		Limits: Limits{RequestBody: size, HeldBytes: held * size},
		Routes: []Route{newRoute(t, "anthropic", providerURL(t), key, wire.AnthropicMessages)},
	})
	content := `{"model":"m","system":"` + strings.Repeat("x", size-25) + `"}`
	var all sync.WaitGroup
	for range cap(here) {
		all.Go(func() {
			if status, answer, _ := r.ask(t, content); status != http.StatusUnauthorized {
				t.Errorf("%d %s", status, answer)
			}
		})
	}
	for range held {
		<-here
	}
	if r.gate.broker.memory.TryAcquire(1) {
		t.Errorf("there is room beside %d bodies", held)
	}
	close(goOn)
	all.Wait()
	if !r.gate.broker.memory.TryAcquire(held * size) {
		t.Error("not all of the memory was given back")
	}
}
