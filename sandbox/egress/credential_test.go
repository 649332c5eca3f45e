package egress

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sandboxrun/internal/wire"
)

func TestEveryWireSendsItsCredentialItsOwnWay(t *testing.T) {
	t.Parallel()
	const login, google = "sk-ant-oat01-real", "ya29.real"
	for _, c := range []struct {
		wire          wire.Wire
		key           string
		header, value string
	}{
		{wire.AnthropicMessages, testKey, "X-Api-Key", testKey},
		{wire.AnthropicMessages, login, "Authorization", "Bearer " + login},
		{wire.OpenAIResponses, testKey, "Authorization", "Bearer " + testKey},
		{wire.OpenAIChat, testKey, "Authorization", "Bearer " + testKey},
		{wire.GoogleGenerate, testKey, "X-Goog-Api-Key", testKey},
		{wire.GoogleGenerate, google, "Authorization", "Bearer " + google},
	} {
		base, asked := upstream(t)
		r := newRig(t, Config{Routes: []Route{newRoute(t, "p", base, StaticKey(" "+c.key+"\n"), c.wire)}})
		method, target, _ := strings.Cut(wireCalls[c.wire][0], " ")
		for _, header := range credentialHeaders { // whichever header the client put the placeholder in
			if status, answer := r.call(t, method, "/p"+target, "Authorization", "", header, testToken); status != 200 {
				t.Fatalf("%s: %d %s", c.wire, status, answer)
			}
			got := <-asked
			for _, name := range credentialHeaders {
				want := []string(nil)
				if name == c.header {
					want = []string{c.value}
				}
				if !slices.Equal(got.header.Values(name), want) {
					t.Errorf("%s, %s: %s is %q", c.wire, c.key, name, got.header.Values(name))
				}
			}
		}
	}
}

func TestLoginsAddTheirBetaToTheClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, sent, want string
	}{
		{testKey, "a,b", "a,b"},
		{testKey, "", ""},
		{"sk-ant-oat01-x", "", anthropicLogin},
		{"sk-ant-oat01-x", "a, b", "a,b," + anthropicLogin},
		{"sk-ant-oat01-x", "a," + anthropicLogin, "a," + anthropicLogin},
	} {
		h := http.Header{}
		if c.sent != "" {
			h.Set("Anthropic-Beta", c.sent)
		}
		anthropicAuth(h, CredentialOf(c.key))
		if got := strings.Join(h.Values("Anthropic-Beta"), "|"); got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.key, c.sent, got, c.want)
		}
	}
}

// A login may be renewed during a run.
func TestCredentialIsReadForEveryRequest(t *testing.T) {
	t.Parallel()
	base, asked := upstream(t)
	n := 0
	key := func(context.Context) (Credential, error) {
		n++
		return Credential{fmt.Sprintf("token-%d", n), SchemeLogin}, nil
	}
	r := newRig(t, Config{Routes: []Route{newRoute(t, "p", base, key, wire.GoogleGenerate)}})
	for i := range 2 {
		if status, answer := r.call(t, http.MethodGet, "/p/v1beta/models"); status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
		if got := (<-asked).header.Get("Authorization"); got != fmt.Sprintf("Bearer token-%d", i+1) {
			t.Errorf("sent %s", got)
		}
	}
}

func TestUnusableCredentialsAreNotSent(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "a b", "a\r\nX-Evil: 1", "a\x00", "schlüssel"} {
		key := func(context.Context) (Credential, error) { return Credential{Value: value}, nil }
		r := newRig(t, Config{Routes: []Route{newRoute(t, "p", providerURL(t), key, wire.OpenAIChat)}})
		if status, answer := r.call(t, http.MethodPost, "/p/v1/chat/completions"); status != http.StatusUnauthorized {
			t.Errorf("%q: %d %s", value, status, answer)
		}
	}
}

func TestLoginTokensAreRedactedInErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wire wire.Wire
		key  string
	}{{wire.AnthropicMessages, "sk-ant-oat01-real"}, {wire.OpenAIResponses, testKey}, {wire.GoogleGenerate, testKey}} {
		route := provider(t, func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("X-Request-ID", fmt.Sprint(req.Header))
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"bad key %v"}}`, req.Header)
		})
		r := newRig(t, Config{Routes: []Route{newRoute(t, "p", route.base.String(), StaticKey(c.key), c.wire)}})
		method, target, _ := strings.Cut(wireCalls[c.wire][0], " ")
		req, err := http.NewRequestWithContext(t.Context(), method, r.broker+"/p"+target, strings.NewReader(wireBodies[c.wire]))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Goog-Api-Key", testToken)
		req.Header.Set("Content-Type", "application/json")
		status, answer, header := r.do(t, req)
		if all := fmt.Sprint(answer, header, r.recorded(KindRequest)); status != 401 || !strings.Contains(answer, "[redacted:key]") || strings.Contains(all, c.key) {
			t.Errorf("%s: %d, answered %s", c.wire, status, all)
		}
	}
}

func TestPrintingACredentialHidesIt(t *testing.T) {
	t.Parallel()
	c := CredentialOf(testKey)
	if s := fmt.Sprintf("%v %s %+v %q", c, c, &c, []Credential{c}); strings.Contains(s, testKey) {
		t.Error(s)
	}
}
