package egress

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"sandboxrun/internal/wire"
)

// seen is a request an upstream received.
type seen struct {
	target string // method and request URI
	header http.Header
	body   string
}

// upstream records its requests and answers with an empty document.
func upstream(t *testing.T) (base string, asked <-chan seen) {
	t.Helper()
	all := make(chan seen, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		all <- seen{r.Method + " " + r.RequestURI, r.Header.Clone(), string(b)}
		fmt.Fprint(w, `{}`)
	}))
	t.Cleanup(server.Close)
	return server.URL, all
}

// call sends a request below the broker, with the token and further headers.
func (r *rig) call(t *testing.T, method, target string, headers ...string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.broker+target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		text := bodyFor(target)
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	status, answer, _ = r.do(t, req)
	return status, answer
}

// wireBodies are the least bodies that the broker forwards, per wire.
var wireBodies = map[wire.Wire]string{
	wire.AnthropicMessages: small, wire.OpenAIResponses: `{"model":"m","store":false}`, wire.OpenAIChat: small, wire.GoogleGenerate: `{}`,
}

// bodyFor is the least body for the call with that target.
func bodyFor(target string) string {
	switch {
	case strings.Contains(target, "/v1beta/"):
		return wireBodies[wire.GoogleGenerate]
	case strings.Contains(target, "/responses"):
		return wireBodies[wire.OpenAIResponses]
	}
	return small
}

// wireCalls are calls that reach the provider, per wire.
var wireCalls = map[wire.Wire][]string{
	wire.AnthropicMessages: {"POST /v1/messages", "POST /v1/messages?beta=true", "POST /v1/messages/count_tokens"},
	wire.OpenAIResponses:   {"POST /v1/responses", "GET /v1/models", "GET /v1/models?client_version=0.169.0"},
	wire.OpenAIChat:        {"POST /v1/chat/completions", "GET /v1/models", "GET /v1/models?client_version=0.169.0"},
	wire.GoogleGenerate: {
		"POST /v1beta/models/gemini-2.5-pro:generateContent", "POST /v1beta/models/g_1:streamGenerateContent?alt=sse",
		"POST /v1beta/models/g:countTokens", "GET /v1beta/models",
	},
}

func TestEveryWireHasADialect(t *testing.T) {
	t.Parallel()
	for _, w := range wire.All() {
		if dialects[w] == nil || wireCalls[w] == nil {
			t.Errorf("internal/wire has %s: dialects in dialect.go and wireCalls in this test need it too", w)
		}
	}
	if len(dialects) != len(wire.All()) {
		t.Errorf("%d dialects for the %d wires of internal/wire", len(dialects), len(wire.All()))
	}
}

func TestEveryWireServesItsOwnCallsAndNoOthers(t *testing.T) {
	t.Parallel()
	for _, w := range wire.All() {
		t.Run(string(w), func(t *testing.T) {
			t.Parallel()
			base, asked := upstream(t)
			r := newRig(t, Config{Routes: []Route{newRoute(t, "p", base, StaticKey(testKey), w)}})
			own := map[string]bool{}
			for _, call := range wireCalls[w] {
				own[call] = true
				method, target, _ := strings.Cut(call, " ")
				if status, answer := r.call(t, method, "/p"+target); status != 200 {
					t.Errorf("%s: %d %s", call, status, answer)
				} else if got := <-asked; got.target != call {
					t.Errorf("%s reached the provider as %s", call, got.target)
				}
			}
			for other, calls := range wireCalls {
				for _, call := range calls {
					method, target, _ := strings.Cut(call, " ")
					if own[call] || other == w {
						continue
					}
					if status, _ := r.call(t, method, "/p"+target); status != http.StatusForbidden {
						t.Errorf("%s of %s: %d", call, other, status)
					}
				}
			}
			if len(asked) > 0 {
				t.Errorf("the provider was asked %+v", <-asked)
			}
		})
	}
}

// TestNoTrickReachesTheProvider writes raw requests, because a client library would normalize the tricks.
func TestNoTrickReachesTheProvider(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Routes: []Route{provider(t, unreachable(t)), newRoute(t, "all", providerURL(t), StaticKey(testKey), wire.All()...)}})
	var lines []string
	for _, calls := range wireCalls {
		for _, call := range calls {
			method, target, _ := strings.Cut(call, " ")
			path, _, _ := strings.Cut(target, "?")
			version, rest, _ := strings.Cut(path[1:], "/")
			for _, verb := range []string{"DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "get", "POST\t"} {
				lines = append(lines, verb+" /all"+path)
			}
			for _, trick := range []string{
				path + "/", path + "/..", path + "/../files", "/" + path, "//evil.example" + path, "/." + path, "/.." + path,
				"/" + version + "//" + rest, "/" + version + "%2f" + rest, "/" + version + "/./" + rest, "/" + version + "/x/../" + rest,
				"/" + version + "\\" + rest, "/@evil.example" + path, path + "%00", path + "%2e%2e", path + ";a=b", path + "/x", path + "x",
				path + "?key=" + testToken, path + "?key=x&alt=sse", path + "?alt=media", path + "?alt=sse&alt=sse", path + "?beta=false",
				path + "?beta=true&beta=true", path + "?a;b", path + "?%zz", path + "?$httpMethod=DELETE", path + "?url=http://evil.example",
				path + "?client_version=a%20b", path + "?client_version=", path + "#x", path + "?" + strings.Repeat("a=b&", 10),
			} {
				lines = append(lines, method+" /all"+trick)
			}
			lines = append(lines, method+" http://evil.example/all"+path, method+" http://evil.example"+path,
				method+" all"+path, method+" "+path, method+" /ALL"+path, method+" /none"+path)
		}
	}
	for _, model := range []string{
		"", ".", "..", "../../files/x", "a/b", "a%2fb", "a%2f..%2fb", "a:b", "a:countTokens", ":", "a~b", "-a", ".a", "a b", "a?b", "a@b", "ä", "a%00", "a\\b", "a;b", "*",
	} {
		for _, method := range []string{"generateContent", "streamGenerateContent", "countTokens"} {
			lines = append(lines, "POST /all/v1beta/models/"+model+":"+method)
		}
	}
	for _, path := range []string{
		"/v1/files", "/v1/organizations", "/v1/organization/admin_api_keys", "/v1/responses/resp_1", "/v1/responses/compact", "/v1/conversations",
		"/v1/assistants", "/v1/embeddings", "/v1/fine_tuning/jobs", "/v1/batches", "/v1/messages/batches", "/v1/models/x", "/v1/completions",
		"/v1beta/files", "/v1beta/cachedContents", "/v1beta/tunedModels", "/v1beta/models/x", "/v1beta/models/x:predict", "/v1beta/models/x:embedContent",
		"/v1beta/models/x:batchGenerateContent", "/upload/v1beta/files", "/v1/models/x:generateContent", "/v2/messages", "/messages", "/",
	} {
		lines = append(lines, "POST /all"+path, "GET /all"+path, "DELETE /all"+path)
	}
	for _, line := range lines {
		status := r.raw(t, r.broker, line+" HTTP/1.1\r\nHost: h\r\nX-Goog-Api-Key: "+testToken+
			"\r\nX-Http-Method-Override: DELETE\r\nContent-Length: 0\r\n\r\n")
		if status != 403 && status != 404 && status != 400 {
			t.Errorf("%q: status %d", line, status)
		}
	}
}

// providerURL is the address of an upstream that must not be reached.
func providerURL(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(unreachable(t))
	t.Cleanup(server.Close)
	return server.URL
}

func TestOnlyListedHeadersReachTheProvider(t *testing.T) {
	t.Parallel()
	hostile := []string{
		"Cookie", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "Host-Override", "Proxy-Authorization", "Via", "X-Http-Method-Override",
		"X-Method-Override", "X-Original-Url", "X-Rewrite-Url", "X-Goog-User-Project", "Openai-Organization", "Openai-Project", "Openai-Beta",
		"Anthropic-Workspace-Id", "Api-Key", "X-Auth-Token", "Idempotency-Key", "Te", "Trailer-X",
	}
	for _, w := range wire.All() {
		base, asked := upstream(t)
		r := newRig(t, Config{Routes: []Route{newRoute(t, "p", base, StaticKey(testKey), w)}})
		method, target, _ := strings.Cut(wireCalls[w][0], " ")
		var headers []string
		for _, name := range append(hostile, credentialHeaders...) {
			headers = append(headers, name, testToken)
		}
		if status, answer := r.call(t, method, "/p"+target, headers...); status != 200 {
			t.Fatalf("%s: %d %s", w, status, answer)
		}
		got := <-asked
		for _, name := range hostile {
			if got.header.Get(name) != "" {
				t.Errorf("%s: header %s reached the provider", w, name)
			}
		}
		if strings.Contains(fmt.Sprint(got), testToken) {
			t.Errorf("%s: the placeholder reached the provider: %+v", w, got)
		}
	}
}

func TestBaseURLsMayEndInTheVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, path, want string }{
		{"https://h", "/v1/responses", "https://h/v1/responses"},
		{"https://h/", "/v1/responses", "https://h/v1/responses"},
		{"https://h/v1", "/v1/responses", "https://h/v1/responses"},
		{"https://h/v1/", "/v1/responses", "https://h/v1/responses"},
		{"http://127.0.0.1:4000", "/v1/messages", "http://127.0.0.1:4000/v1/messages"},
		{"https://h/api/v1", "/v1/chat/completions", "https://h/api/v1/chat/completions"},
		{"https://h/api", "/v1/chat/completions", "https://h/api/v1/chat/completions"},
		{"https://h/paas/v4", "/v1/chat/completions", "https://h/paas/v4/chat/completions"},
		{"https://h/v1beta", "/v1beta/models/m:countTokens", "https://h/v1beta/models/m:countTokens"},
		{"https://h", "/v1beta/models/m:countTokens", "https://h/v1beta/models/m:countTokens"},
		{"https://h/my%2Fway", "/v1/messages", "https://h/my%2Fway/v1/messages"},
		{"https://h/vault", "/v1/messages", "https://h/vault/v1/messages"},
	} {
		route := newRoute(t, "p", c.base, StaticKey("k"), wire.All()...)
		if got := route.url(c.path, nil).String(); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.base, c.path, got, c.want)
		}
	}
	for _, suffix := range []string{"", "/v1"} {
		base, asked := upstream(t)
		r := newRig(t, Config{Routes: []Route{newRoute(t, "p", base+suffix, StaticKey(testKey), wire.OpenAIChat)}})
		if status, answer := r.call(t, http.MethodPost, "/p/v1/chat/completions"); status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
		if got := <-asked; got.target != "POST /v1/chat/completions" || got.body != small {
			t.Errorf("base %q: asked %+v", suffix, got)
		}
	}
}

func TestRefusalsHaveTheVendorsFormat(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Routes: []Route{newRoute(t, "all", providerURL(t), StaticKey(testKey), wire.All()...)}})
	for _, c := range []struct {
		target, token string
		status        int
		want          string
	}{
		{"/v1/messages", "wrong", 401, `{"error":{"message":"M","type":"authentication_error"},"type":"error"}`},
		{"/v1/messages?x=y", testToken, 403, `{"error":{"message":"M","type":"permission_error"},"type":"error"}`},
		{"/v1/responses", "wrong", 401, `{"error":{"code":"invalid_api_key","message":"M","param":null,"type":"invalid_request_error"}}`},
		{"/v1/chat/completions?x=y", testToken, 403, `{"error":{"code":null,"message":"M","param":null,"type":"invalid_request_error"}}`},
		{"/v1beta/models/m:generateContent", "wrong", 401, `{"error":{"code":401,"message":"M","status":"UNAUTHENTICATED"}}`},
		{"/v1beta/models/m:generateContent?key=" + testToken, "", 403, `{"error":{"code":403,"message":"M","status":"PERMISSION_DENIED"}}`},
	} {
		status, answer := r.call(t, http.MethodPost, "/all"+c.target, "Authorization", c.token)
		var doc struct {
			Error struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(answer), &doc); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(doc.Error.Message, "sandboxrun: ") {
			t.Errorf("%s: message %q", c.target, doc.Error.Message)
		}
		if got := strings.Replace(answer, doc.Error.Message, "M", 1); status != c.status || got != c.want {
			t.Errorf("%s: %d %s, want %d %s", c.target, status, got, c.status, c.want)
		}
	}
}

// FuzzMatch tries targets a box could send: an admitted one is on a short list of paths with a short list of queries,
// and stays below the base.
func FuzzMatch(f *testing.F) {
	for _, calls := range wireCalls {
		for _, call := range calls {
			method, target, _ := strings.Cut(call, " ")
			f.Add(method, target)
		}
	}
	for _, target := range []string{"/v1beta/models/../x:generateContent", "/v1/messages?key=x", "/v1//messages", "/v1/%6dessages", "/v1/models?client_version=%0d%0a"} {
		f.Add(http.MethodPost, target)
	}
	listed := regexp.MustCompile(`^(POST /v1/(messages|messages/count_tokens|responses|chat/completions)|GET /v1/models|HEAD /api/hello|GET /v1beta/models|` +
		`POST /v1beta/models/[A-Za-z0-9][A-Za-z0-9._-]*:(generateContent|streamGenerateContent|countTokens))$`)
	query := regexp.MustCompile(`^(beta=true|alt=sse|alt=json|client_version=[A-Za-z0-9._-]{1,64})?$`)
	f.Fuzz(func(t *testing.T, method, target string) {
		route := newRoute(t, "p", "https://api.example/below/v1", StaticKey("k"), wire.All()...)
		d, _, values, err := route.match(method, target)
		if d == nil {
			t.Fatal("no dialect for the refusal")
		}
		if err != nil {
			return
		}
		path, _, _ := strings.Cut(target, "?")
		if !listed.MatchString(method+" "+path) || !query.MatchString(values.Encode()) {
			t.Errorf("let through %q %q", method, target)
		}
		if got := route.url(path, values); got.Host != "api.example" || !strings.HasPrefix(got.Path, "/below/v1/") || strings.Contains(got.Path, "/.") {
			t.Errorf("%q goes to %q", target, got)
		}
	})
}
