package body

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestRequestsThatReachBeyondOneAnswerAreRefused has one request per way out, way to another purse, and trick of
// writing, each with the place the refusal names and the grant that would allow it.
func TestRequestsThatReachBeyondOneAnswerAreRefused(t *testing.T) {
	t.Parallel()
	chat := func(message string) string { return `{"model":"m","messages":[` + message + `]}` }
	responses := func(rest string) string { return `{"model":"m","store":false,` + rest + `}` }
	claude := func(rest string) string { return `{"model":"m",` + rest + `}` }
	block := func(b string) string { return claude(`"messages":[{"role":"user","content":[` + b + `]}]`) }
	for _, c := range []struct {
		name  string
		form  *Form
		body  string
		at    string
		grant Grant
	}{
		{"remote mcp", Anthropic, claude(`"mcp_servers":[{"type":"url","url":"https://x"}]`), "/mcp_servers", RemoteMCP},
		{"mcp toolset", Anthropic, claude(`"tools":[{"type":"mcp_toolset"}]`), "/tools/0/type", RemoteMCP},
		{"web fetch", Anthropic, claude(`"tools":[{"name":"a","input_schema":{}},{"type":"web_fetch_20250910","name":"web_fetch"}]`), "/tools/1/type", WebSearch},
		{"code", Anthropic, claude(`"tools":[{"type":"code_execution_20250825","name":"c"}]`), "/tools/0/type", CodeExecution},
		{"caller", Anthropic, claude(`"tools":[{"name":"a","allowed_callers":["code_execution_20250825"]}]`), "/tools/0/allowed_callers/0", CodeExecution},
		{"container", Anthropic, claude(`"container":"c_1"`), "/container", CodeExecution},
		{"advisor", Anthropic, claude(`"tools":[{"type":"advisor_20260301","name":"a","model":"big"}]`), "/tools/0/type", AnyModel},
		{"fast", Anthropic, claude(`"speed":"fast"`), "/speed", ServiceTier},
		{"tier", Anthropic, claude(`"service_tier":"priority"`), "/service_tier", ""},
		{"image url", Anthropic, block(`{"type":"image","source":{"type":"url","url":"https://x/?q=secret"}}`), "/messages/0/content/0/source/type", URLSources},
		{"url first", Anthropic, block(`{"source":{"url":"https://x"},"type":"image"}`), "/messages/0/content/0/source/url", URLSources},
		{"file", Anthropic, block(`{"type":"document","source":{"type":"file","file_id":"f"}}`), "/messages/0/content/0/source/type", Files},
		{"nested image", Anthropic, block(`{"type":"tool_result","content":[{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"url"}}]}}]}`),
			"/messages/0/content/0/content/0/source/content/0/source/type", URLSources},
		{"in system", Anthropic, claude(`"system":[{"type":"image","source":{"type":"url"}}]`), "/system/0/source/type", URLSources},
		{"upload", Anthropic, block(`{"type":"container_upload","file_id":"f"}`), "/messages/0/content/0/type", Files},
		{"other model", Anthropic, `{"model":"big"}`, "/model", AnyModel},
		{"no model", Anthropic, `{"messages":[]}`, "", AnyModel},

		{"chat image", Chat, chat(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x"}}]}`), "/messages/0/content/0/image_url/url", URLSources},
		{"chat image text", Chat, chat(`{"role":"user","content":[{"type":"image_url","image_url":"HTTPS://x"}]}`), "/messages/0/content/0/image_url", URLSources},
		{"chat file", Chat, chat(`{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]}`), "/messages/0/content/0/file/file_id", Files},
		{"chat search", Chat, `{"model":"m","web_search_options":{}}`, "/web_search_options", WebSearch},
		{"chat stored", Chat, `{"model":"m","store":true}`, "/store", Stored},
		{"chat audio", Chat, chat(`{"role":"assistant","audio":{"id":"a"}}`), "/messages/0/audio", ""},
		{"choices", Chat, `{"model":"m","n":100}`, "/n", ""},
		{"plugins", Chat, `{"model":"m","plugins":[{"id":"web"}]}`, "/plugins", WebSearch},
		{"fallback", Chat, `{"model":"m","models":["big"]}`, "/models", AnyModel},
		{"chat tier", Chat, `{"model":"m","service_tier":"priority"}`, "/service_tier", ServiceTier},

		{"stored", Responses, `{"model":"m","store":true}`, "/store", Stored},
		{"stored by null", Responses, `{"model":"m","store":null}`, "/store", ""},
		{"stored by default", Responses, `{"model":"m"}`, "", Stored},
		{"background", Responses, responses(`"background":true`), "/background", Stored},
		{"previous", Responses, responses(`"previous_response_id":"r"`), "/previous_response_id", Stored},
		{"conversation", Responses, responses(`"conversation":"c"`), "/conversation", Stored},
		{"template", Responses, responses(`"prompt":{"id":"p"}`), "/prompt", Stored},
		{"reference", Responses, responses(`"input":[{"type":"item_reference","id":"i"}]`), "/input/0/type", Stored},
		{"bare reference", Responses, responses(`"input":[{"id":"i"}]`), "/input/0", ""},
		{"mcp", Responses, responses(`"tools":[{"type":"mcp","server_url":"https://x","server_label":"x"}]`), "/tools/0/type", RemoteMCP},
		{"connector", Responses, responses(`"tools":[{"connector_id":"c","type":"function"}]`), "/tools/0/connector_id", RemoteMCP},
		{"search", Responses, responses(`"tools":[{"type":"web_search_preview"}]`), "/tools/0/type", WebSearch},
		{"nested tool", Responses, responses(`"tools":[{"type":"namespace","tools":[{"type":"web_search"}]}]`), "/tools/0/tools/0/type", WebSearch},
		{"tools of an item", Responses, responses(`"input":[{"type":"additional_tools","tools":[{"type":"mcp"}]}]`), "/input/0/tools/0/type", RemoteMCP},
		{"interpreter", Responses, responses(`"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]`), "/tools/0/type", CodeExecution},
		{"hosted shell", Responses, responses(`"tools":[{"type":"shell","environment":{"type":"container_auto"}}]`), "/tools/0/environment/type", CodeExecution},
		{"vector store", Responses, responses(`"tools":[{"type":"file_search","vector_store_ids":["v"]}]`), "/tools/0/type", Files},
		{"image model", Responses, responses(`"tools":[{"type":"image_generation"}]`), "/tools/0/type", ImageGeneration},
		{"input image", Responses, responses(`"input":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"https://x"}]}]`), "/input/0/content/0/image_url", URLSources},
		{"input file", Responses, responses(`"input":[{"role":"user","content":[{"type":"input_file","file_url":"https://x"}]}]`), "/input/0/content/0/file_url", URLSources},
		{"output image", Responses, responses(`"input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","file_id":"f"}]}]`), "/input/0/output/0/file_id", Files},

		{"gemini file", Google, `{"contents":[{"parts":[{"fileData":{"fileUri":"https://x"}}]}]}`, "/contents/0/parts/0/fileData", Files},
		{"gemini file of a response", Google, `{"contents":[{"parts":[{"functionResponse":{"parts":[{"fileData":{}}]}}]}]}`, "/contents/0/parts/0/functionResponse/parts/0/fileData", Files},
		{"gemini other spelling", Google, `{"contents":[{"parts":[{"file_data":{}}]}]}`, "/contents/0/parts/0/file_data", ""},
		{"gemini search", Google, `{"tools":[{"googleSearch":{}}]}`, "/tools/0/googleSearch", WebSearch},
		{"gemini url", Google, `{"tools":[{"functionDeclarations":[]},{"urlContext":{}}]}`, "/tools/1/urlContext", WebSearch},
		{"gemini code", Google, `{"tools":[{"codeExecution":{}}]}`, "/tools/0/codeExecution", CodeExecution},
		{"gemini cache", Google, `{"cachedContent":"cachedContents/x"}`, "/cachedContent", Stored},
		{"gemini count", GoogleCount, `{"generateContentRequest":{"model":"models/big","tools":[{"googleSearch":{}}]}}`, "/generateContentRequest/model", AnyModel},
		{"gemini candidates", Google, `{"generationConfig":{"candidateCount":8}}`, "/generationConfig/candidateCount", ""},

		{"duplicate", Anthropic, `{"model":"m","model":"m"}`, "/model", ""},
		{"duplicate with an escape", Anthropic, `{"model":"m","mod\u0065l":"big"}`, "/model", ""},
		{"escaped key", Anthropic, `{"mod\u0065l":"m"}`, "/model", ""},
		{"escaped slash", Anthropic, `{"\u006dodel":"m"}`, "/model", ""},
		{"upper case", Anthropic, `{"model":"m","Tools":[]}`, "/Tools", ""},
		{"unknown", Anthropic, claude(`"brand_new":1`), "/brand_new", ""},
		{"duplicate in a schema", Anthropic, claude(`"tools":[{"name":"a","input_schema":{"a":1,"a":2}}]`), "/tools/0/input_schema/a", ""},
		{"kind", Anthropic, claude(`"tools":{"type":"mcp"}`), "/tools", ""},
		{"model list", Anthropic, `{"model":["m"]}`, "/model", ""},
		{"invalid utf-8", Anthropic, claude("\"system\":\"\xff\""), "", ""},
		{"half a surrogate", Anthropic, claude(`"system":"\ud800"`), "", ""},
		{"byte order mark", Anthropic, "\ufeff" + `{"model":"m"}`, "", ""},
		{"utf-16", Anthropic, "{\x00\"\x00m\x00", "", ""},
		{"two documents", Anthropic, `{"model":"m"} {"model":"big"}`, "", ""},
		{"list", Anthropic, `[{"model":"m"}]`, "", ""},
		{"comment", Anthropic, `{"model":"m"/**/}`, "", ""},
		{"cut", Anthropic, `{"model":"m"`, "", ""},
		{"empty", Anthropic, ``, "", ""},
		{"tokens", Anthropic, claude(`"max_tokens":1e99`), "/max_tokens", ""},
		{"negative", Anthropic, claude(`"max_tokens":-1`), "/max_tokens", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := c.form.Read([]byte(c.body), &Policy{Models: []string{"m"}})
			var r *RefusedError
			if !errors.As(err, &r) {
				t.Fatalf("accepted: %v", err)
			}
			if c.at != "" && r.At != c.at || r.Grant != c.grant || r.Error() == "" {
				t.Errorf("refused at %q for %q (%v), want %q for %q", r.At, r.Grant, err, c.at, c.grant)
			}
			if c.grant == "" {
				return
			}
			if _, err := c.form.Read([]byte(c.body), &Policy{Models: []string{"m"}, Grants: Grants()}); err != nil {
				t.Errorf("with every grant: %v", err)
			}
			var others []Grant
			for _, g := range Grants() {
				if g != c.grant {
					others = append(others, g)
				}
			}
			if _, err := c.form.Read([]byte(c.body), &Policy{Models: []string{"m"}, Grants: others}); err == nil {
				t.Errorf("accepted without the grant %s", c.grant)
			}
		})
	}
}

func TestReadingSaysWhatARequestMayCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form *Form
		body string
		want Facts
	}{
		{Anthropic, `{"max_tokens":32000,"model":"m"}`, Facts{"m", 32000}},
		{Chat, `{"model":"m","max_tokens":5,"max_completion_tokens":7}`, Facts{"m", 7}},
		{Responses, `{"model":"m","store":false,"max_output_tokens":9}`, Facts{"m", 9}},
		{Google, `{"generationConfig":{"maxOutputTokens":3}}`, Facts{"", 3}},
		{Anthropic, `{"model":"m"}`, Facts{"m", 0}},
	} {
		if got, err := c.form.Read([]byte(c.body), &Policy{}); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", c.body, got, err)
		}
	}
}

func TestModelsAreComparedWithPatterns(t *testing.T) {
	t.Parallel()
	p := &Policy{Models: []string{"a", "claude-haiku-*", "*/b-*-c"}}
	for name, want := range map[string]bool{
		"a": true, "A": false, "ab": false, "": false, "claude-haiku-4": true, "claude-opus-4": false, "x/b-1-c": true, "x/b-c": false, "b-1-c": false,
	} {
		if err := p.Model(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestReadingIsBounded has bodies that cost a reader more than their size.
func TestReadingIsBounded(t *testing.T) {
	t.Parallel()
	keys := &strings.Builder{}
	for i := range maxValues {
		fmt.Fprintf(keys, `"%x":0,`, i)
	}
	long := &strings.Builder{}
	for i := range maxValues / 2 {
		fmt.Fprintf(long, `"%0100x":0,`, i)
	}
	for name, schema := range map[string]string{
		"names":  "{" + long.String() + `"end":0}`,
		"depth":  strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"values": "[" + strings.Repeat("0,", maxValues) + "0]",
		"keys":   "{" + keys.String() + `"end":0}`,
	} {
		_, err := Anthropic.Read([]byte(`{"model":"m","tools":[{"name":"a","input_schema":{"x":`+schema+`}}]}`), &Policy{})
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s: %.300v", name, err)
		}
	}
	if _, err := Anthropic.Read([]byte(`{"`+strings.Repeat("k", 1<<20)+`":1}`), &Policy{}); err == nil || len(err.Error()) > 1000 {
		t.Errorf("long key: %.300v", err)
	}
}

func TestHeadersOfBetasAreJudged(t *testing.T) {
	t.Parallel()
	for value, grant := range map[string]Grant{
		"mcp-client-2025-11-20": RemoteMCP, "claude-code-20250219, files-api-2025-04-14": Files, "new-2027-01-01": "", "Claude-Code-1": "",
	} {
		var r *RefusedError
		if err := AnthropicBetas.Read([]string{"effort-2025-11-24", value}, &Policy{}); !errors.As(err, &r) || r.Grant != grant {
			t.Errorf("%s: %v", value, err)
		}
	}
	if err := AnthropicBetas.Read([]string{"", "claude-code-20250219,oauth-2025-04-20"}, &Policy{}); err != nil {
		t.Error(err)
	}
}

func TestTheGeminiAPINamesModelsWithAPrefix(t *testing.T) {
	t.Parallel()
	if _, err := GoogleCount.Read([]byte(`{"generateContentRequest":{"model":"models/m"}}`), &Policy{Models: []string{"m"}}); err != nil {
		t.Error(err)
	}
}
