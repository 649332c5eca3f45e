package egress

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"sandboxrun/sandbox/egress/body"
)

// anthropicMessages is the Anthropic Messages API: creating messages and
// counting tokens, nothing else of the API. Source: the API reference's
// Messages pages and the calls Claude Code makes.
var anthropicMessages = dialect{
	endpoints: []endpoint{
		{method: http.MethodPost, path: "/v1/messages", query: []string{"beta=true"}, form: body.Anthropic},
		{method: http.MethodPost, path: "/v1/messages/count_tokens", query: []string{"beta=true"}, form: body.Anthropic, free: true},
		// Claude Code checks once whether the host is reachable.
		{method: http.MethodHead, path: "/api/hello", answer: http.StatusOK},
	},
	requestHeaders:  []string{"Anthropic-Version", "Anthropic-Beta", "Anthropic-Dangerous-Direct-Browser-Access", "X-Stainless-*", "X-App"},
	judgedHeaders:   []*body.Header{body.AnthropicBetas},
	responseHeaders: []string{"Anthropic-Ratelimit-*", "X-Should-Retry"},
	auth:            anthropicAuth,
	usage:           usageReader{`"usage"`, anthropicUsage},
	errorBody:       anthropicError,
}

// anthropicLogin is the beta under which the API accepts the token of a login.
const anthropicLogin = "oauth-2025-04-20"

func anthropicAuth(h http.Header, c Credential) {
	if c.Scheme != SchemeLogin {
		h.Set("X-Api-Key", c.Value)
		return
	}
	setBearer(h, c)
	var betas []string
	for beta := range strings.SplitSeq(strings.Join(h.Values("Anthropic-Beta"), ","), ",") {
		if beta = strings.TrimSpace(beta); beta != "" {
			betas = append(betas, beta)
		}
	}
	if !slices.Contains(betas, anthropicLogin) {
		betas = append(betas, anthropicLogin)
	}
	h.Set("Anthropic-Beta", strings.Join(betas, ","))
}

// anthropicUsage reads a message, a message_start or a message_delta event. The counts of a message_delta are
// cumulative and replace earlier ones; an omitted field keeps its value. input_tokens excludes the cache.
func anthropicUsage(document []byte, u *Usage) {
	type counts struct {
		Input      *int64 `json:"input_tokens"`
		Output     *int64 `json:"output_tokens"`
		CacheRead  *int64 `json:"cache_read_input_tokens"`
		CacheWrite *int64 `json:"cache_creation_input_tokens"`
	}
	type message struct {
		Model string `json:"model"`
		Usage counts `json:"usage"`
	}
	var d struct {
		message
		Message message `json:"message"`
	}
	if json.Unmarshal(document, &d) != nil {
		return // not a document of this provider: nothing to count
	}
	for _, m := range []message{d.message, d.Message} {
		u.setModel(m.Model)
		setCount(&u.InputTokens, m.Usage.Input)
		setCount(&u.OutputTokens, m.Usage.Output)
		setCount(&u.CacheReadTokens, m.Usage.CacheRead)
		setCount(&u.CacheWriteTokens, m.Usage.CacheWrite)
	}
}

func anthropicError(status int, message string) []byte {
	kind := "api_error"
	switch status {
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusForbidden:
		kind = "permission_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	case http.StatusRequestEntityTooLarge:
		kind = "request_too_large"
	case http.StatusBadRequest:
		kind = "invalid_request_error"
	}
	return mustJSON(map[string]any{
		"type":  "error",
		"error": map[string]string{"type": kind, "message": message},
	})
}
