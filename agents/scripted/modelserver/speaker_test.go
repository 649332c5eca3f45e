package modelserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"sandboxrun/internal/wire"
)

// heard is an answer as a client of any wire understands it.
type heard struct {
	thinking, text string
	calls          []call
	stop           string // in the wire's own words
	in, out        int    // tokens
}

type call struct{ id, name, args string }

// speaker is a client of one wire.
type speaker struct {
	wire wire.Wire
	// path and body make a request of an agent's loop: a word of the user, one of
	// the model, a tool call of it, its result, and another word of the user.
	path func(stream bool) string
	body string // %t is whether it streams
	// side is a request without tools that wants an answer by sideSchema.
	side string
	stop string // with tools
	// hear reads a document, or the events of a stream; the Gemini API has one
	// form for both.
	document, stream func(h *heard, v map[string]any)
	faults           map[int]string
	faultType        func(v map[string]any) any
}

const sideSchema = `{"type":"OBJECT","properties":{"reason":{"type":"STRING"},"score":{"type":"integer","minimum":3},"choice":{"enum":["b","a"]},"sure":{"type":["boolean","null"]},"list":{"type":"array"}},"required":["reason","score","choice","sure","list"]}`

func at(path string) func(bool) string { return func(bool) string { return path } }

func speakers() []speaker {
	openAIError := func(v map[string]any) any { return v["error"].(map[string]any)["code"] }
	openAI := map[int]string{
		400: "invalid_request_error", 401: "invalid_api_key", 403: "permission_denied", 404: "model_not_found",
		418: "invalid_request_error", 429: "rate_limit_exceeded", 500: "server_error", 503: "server_is_overloaded", 529: "server_error",
	}
	return []speaker{
		{
			wire: wire.AnthropicMessages, path: at("/v1/messages"), stop: "tool_use",
			body: `{"model":"m","max_tokens":99,"stream":%t,"tools":[{"name":"Bash"}],"system":"be good","messages":[{"role":"user","content":"first"},
				{"role":"assistant","content":[{"type":"text","text":"hm"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"list it"}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a file"}]},{"role":"user","content":"go on"}]}`,
			side:     `{"model":"m","max_tokens":99,"messages":[{"role":"user","content":"a title"}]}`,
			document: hearMessage, stream: hearMessageEvent,
			faults: map[int]string{
				400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
				418: "invalid_request_error", 429: "rate_limit_error", 500: "api_error", 503: "api_error", 529: "overloaded_error",
			},
			faultType: func(v map[string]any) any { return v["error"].(map[string]any)["type"] },
		},
		{
			wire: wire.OpenAIResponses, path: at("/v1/responses"), stop: "completed",
			body: `{"model":"m","stream":%t,"tools":[{"type":"function","name":"Bash"}],"input":[{"role":"developer","content":"be good"},
				{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]},{"type":"reasoning","summary":[]},
				{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hm"}]},
				{"type":"function_call","call_id":"t1","name":"Bash","arguments":"{\"command\":\"list it\"}"},
				{"type":"function_call_output","call_id":"t1","output":"a file"},{"role":"user","content":"go on"}]}`,
			side:     `{"model":"m","input":"a title","text":{"format":{"type":"json_schema","schema":` + sideSchema + `}}}`,
			document: hearResponse, stream: hearResponseEvent, faults: openAI, faultType: openAIError,
		},
		{
			wire: wire.OpenAIChat, path: at("/v1/chat/completions"), stop: "tool_calls",
			body: `{"model":"m","stream":%t,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"Bash"}}],
				"messages":[{"role":"system","content":"be good"},{"role":"user","content":[{"type":"text","text":"first"}]},
				{"role":"assistant","content":"hm","tool_calls":[{"id":"t1","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"list it\"}"}}]},
				{"role":"tool","tool_call_id":"t1","content":"a file"},{"role":"user","content":"go on"}]}`,
			side:     `{"model":"m","messages":[{"role":"user","content":"a title"}],"response_format":{"type":"json_schema","json_schema":{"schema":` + sideSchema + `}}}`,
			document: hearChat, stream: hearChat, faults: openAI, faultType: openAIError,
		},
		{
			wire: wire.GoogleGenerate, stop: "STOP",
			path: func(stream bool) string {
				if stream {
					return "/v1beta/models/m:streamGenerateContent?alt=sse"
				}
				return "/v1beta/models/m:generateContent"
			},
			body: `{"ignored":%t,"tools":[{"functionDeclarations":[{"name":"Bash"}]}],"systemInstruction":{"parts":[{"text":"be good"}]},
				"contents":[{"role":"user","parts":[{"text":"first"}]},
				{"role":"model","parts":[{"text":"hm"},{"functionCall":{"id":"t1","name":"Bash","args":{"command":"list it"}}}]},
				{"role":"user","parts":[{"functionResponse":{"id":"t1","name":"Bash","response":{"output":"a file"}}},{"text":"go on"}]}]}`,
			side:     `{"contents":[{"role":"user","parts":[{"text":"a title"}]}],"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":` + sideSchema + `}}`,
			document: hearCandidate, stream: hearCandidate,
			faults: map[int]string{
				400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
				418: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 529: "INTERNAL",
			},
			faultType: func(v map[string]any) any { return v["error"].(map[string]any)["status"] },
		},
	}
}

// overWires runs a test for each wire, against a server of its own.
func overWires(t *testing.T, test func(t *testing.T, sp speaker)) {
	t.Helper()
	for _, sp := range speakers() {
		t.Run(string(sp.wire), func(t *testing.T) {
			t.Parallel()
			test(t, sp)
		})
	}
}

func (sp speaker) ask(t *testing.T, s *Server, stream bool) *http.Response {
	t.Helper()
	return post(t, s, sp.path(stream), fmt.Appendf(nil, sp.body, stream))
}

// hear reads a whole answer.
func (sp speaker) hear(t *testing.T, r *http.Response) heard {
	t.Helper()
	var h heard
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		sp.document(&h, decode(t, r.Body))
		return h
	}
	if err := sp.listen(&h, r.Body); err != nil {
		t.Fatal(err)
	}
	return h
}

// listen reads a stream up to its end, which may be an early one.
func (sp speaker) listen(h *heard, r io.Reader) error {
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		data, ok := strings.CutPrefix(scan.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			return err
		}
		sp.stream(h, v)
	}
	return scan.Err()
}

func decode(t *testing.T, r io.Reader) (v map[string]any) {
	t.Helper()
	if err := json.NewDecoder(r).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
