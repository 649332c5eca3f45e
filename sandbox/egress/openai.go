package egress

import (
	"encoding/json"
	"net/http"

	"sandboxrun/sandbox/egress/body"
)

// openAIResponses is OpenAI's Responses API, one call without server-side
// state. Source: the API reference and the calls Codex makes.
var openAIResponses = openAIDialect("/v1/responses", body.Responses)

// openAIChat is the Chat Completions API, which many gateways and model servers offer too.
var openAIChat = openAIDialect("/v1/chat/completions", body.Chat)

// openAIDialect is an OpenAI API whose answers are created at path.
func openAIDialect(path string, form *body.Form) dialect {
	return dialect{
		endpoints:       []endpoint{{method: http.MethodPost, path: path, form: form}, openAIModels},
		requestHeaders:  openAIRequestHeaders,
		responseHeaders: openAIResponseHeaders,
		auth:            setBearer,
		usage:           usageReader{`"usage"`, openAIUsage},
		errorBody:       openAIError,
	}
}

// Codex sends its version when it lists the models.
var openAIModels = endpoint{method: http.MethodGet, path: "/v1/models", query: []string{"client_version=*"}}

var (
	// The headers that choose an organization or a project, and so who pays, are omitted: the owner of the key decides
	// that. OpenAI-Beta, which opens more of the API, is sent by none of the programs.
	openAIRequestHeaders  = []string{"X-Client-Request-Id", "X-Stainless-*"}
	openAIResponseHeaders = []string{
		"OpenAI-Model", "OpenAI-Processing-Ms", "OpenAI-Version", "Retry-After-Ms", "X-Ratelimit-*", "X-Reasoning-Included", "X-Should-Retry",
	}
)

// openAIUsage reads the documents of both APIs: a response or a completion, an event that carries a whole response
// (completed, incomplete, failed), or the last chunk of a completion. Their input counts include what was read from
// the cache; [Usage] separates the two. A stream of completions is only counted when the client requested it
// (stream_options.include_usage).
func openAIUsage(document []byte, u *Usage) {
	type details struct {
		Cached int64 `json:"cached_tokens"`
	}
	type counts struct {
		Input         *int64  `json:"input_tokens"` // Responses
		InputDetails  details `json:"input_tokens_details"`
		Output        *int64  `json:"output_tokens"`
		Prompt        *int64  `json:"prompt_tokens"` // Chat Completions
		PromptDetails details `json:"prompt_tokens_details"`
		Completion    *int64  `json:"completion_tokens"`
	}
	type answer struct {
		Model string  `json:"model"`
		Usage *counts `json:"usage"`
	}
	var d struct {
		answer
		Response answer `json:"response"`
	}
	if json.Unmarshal(document, &d) != nil {
		return // not a document of this provider: nothing to count
	}
	for _, a := range []answer{d.answer, d.Response} {
		u.setModel(a.Model)
		if a.Usage == nil {
			continue
		}
		u.setInput(a.Usage.Input, a.Usage.InputDetails.Cached)
		u.setInput(a.Usage.Prompt, a.Usage.PromptDetails.Cached)
		setCount(&u.OutputTokens, a.Usage.Output)
		setCount(&u.OutputTokens, a.Usage.Completion)
	}
}

func openAIError(status int, message string) []byte {
	kind, code := "invalid_request_error", any(nil)
	switch {
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return mustJSON(map[string]any{
		"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code},
	})
}
