package egress

import (
	"bytes"
	"encoding/json"
	"net/http"

	"sandboxrun/sandbox/egress/body"
)

// googleGenerate is the Gemini API's content generation. Source: the API
// reference's pages on models.generateContent, and the calls Gemini CLI makes.
var googleGenerate = dialect{
	endpoints: []endpoint{
		{method: http.MethodPost, path: "/v1beta/models/*:generateContent", query: []string{"alt=json"}, form: body.Google},
		{method: http.MethodPost, path: "/v1beta/models/*:streamGenerateContent", query: []string{"alt=sse", "alt=json"}, form: body.Google},
		{method: http.MethodPost, path: "/v1beta/models/*:countTokens", query: []string{"alt=json"}, form: body.GoogleCount, free: true},
		{method: http.MethodGet, path: "/v1beta/models"},
	},
	// X-Goog-User-Project, which chooses who pays, is not among them.
	requestHeaders: []string{"X-Goog-Api-Client"},
	auth:           googleAuth,
	usage:          usageReader{`"usageMetadata"`, googleUsage},
	errorBody:      googleError,
}

func googleAuth(h http.Header, c Credential) {
	if c.Scheme == SchemeLogin {
		setBearer(h, c)
		return
	}
	h.Set("X-Goog-Api-Key", c.Value)
}

// googleUsage reads a response, or the array of them that a stream without alt=sse is. Counts are cumulative. The
// prompt's count includes what was read from the cache, not what tools added; thoughts are billed as output.
func googleUsage(document []byte, u *Usage) {
	type response struct {
		Model string `json:"modelVersion"`
		Usage *struct {
			Prompt     *int64 `json:"promptTokenCount"`
			ToolPrompt int64  `json:"toolUsePromptTokenCount"`
			Cached     int64  `json:"cachedContentTokenCount"`
			Candidates int64  `json:"candidatesTokenCount"`
			Thoughts   int64  `json:"thoughtsTokenCount"`
		} `json:"usageMetadata"`
	}
	var all []response
	if !bytes.HasPrefix(bytes.TrimSpace(document), []byte("[")) {
		all = make([]response, 1)
		if json.Unmarshal(document, &all[0]) != nil {
			return // not a document of this provider: nothing to count
		}
	} else if json.Unmarshal(document, &all) != nil {
		return
	}
	for _, r := range all {
		u.setModel(r.Model)
		if r.Usage == nil {
			continue
		}
		if p := r.Usage.Prompt; p != nil {
			sum := *p + r.Usage.ToolPrompt
			u.setInput(&sum, r.Usage.Cached)
		}
		if out := r.Usage.Candidates + r.Usage.Thoughts; out > 0 {
			u.OutputTokens = out
		}
	}
}

func googleError(status int, message string) []byte {
	kind := "INTERNAL"
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		kind = "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		kind = "UNAUTHENTICATED"
	case http.StatusForbidden:
		kind = "PERMISSION_DENIED"
	case http.StatusNotFound:
		kind = "NOT_FOUND"
	case http.StatusBadGateway:
		kind = "UNAVAILABLE"
	case http.StatusGatewayTimeout:
		kind = "DEADLINE_EXCEEDED"
	}
	return mustJSON(map[string]any{
		"error": map[string]any{"code": status, "message": message, "status": kind},
	})
}
