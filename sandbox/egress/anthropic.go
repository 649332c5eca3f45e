package egress

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// AnthropicRoute returns the route of the Anthropic Messages API: creating
// messages and counting tokens, nothing else of the API. Source: the API
// reference's Messages pages and the calls Claude Code makes.
func AnthropicRoute(base *url.URL, key KeyFunc) Route {
	return Route{
		Provider: "anthropic",
		BaseURL:  base,
		Key:      key,
		Auth:     AuthXAPIKey,
		Allow: []Endpoint{
			{Method: http.MethodPost, Path: "/v1/messages", Query: []string{"beta"}},
			{Method: http.MethodPost, Path: "/v1/messages/count_tokens", Query: []string{"beta"}},
			// Claude Code asks once whether the host is there at all.
			{Method: http.MethodHead, Path: "/api/hello", Answer: http.StatusOK},
		},
		RequestHeaders:  []string{"Anthropic-Version", "Anthropic-Beta", "Anthropic-Dangerous-Direct-Browser-Access", "X-Stainless-*", "X-App"},
		ResponseHeaders: []string{"Anthropic-Ratelimit-*", "X-Should-Retry"},
		Usage:           anthropicUsage,
		Error:           anthropicError,
	}
}

// anthropicUsage reads a message, a message_start or a message_delta event. The
// counts of a message_delta are cumulative and replace what came before; a
// field it leaves out keeps its value.
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
		return // not a document this provider writes: nothing to count
	}
	for _, m := range []message{d.message, d.Message} {
		if m.Model != "" {
			u.Model = m.Model
		}
		setCount(&u.InputTokens, m.Usage.Input)
		setCount(&u.OutputTokens, m.Usage.Output)
		setCount(&u.CacheReadTokens, m.Usage.CacheRead)
		setCount(&u.CacheWriteTokens, m.Usage.CacheWrite)
	}
}

func setCount(field *int64, value *int64) {
	if value != nil && *value >= 0 {
		*field = *value
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

// mustJSON encodes values that cannot fail: maps of strings.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
