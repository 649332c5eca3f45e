package body

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// forms are all forms, by a number that a fuzzer can choose.
var forms = []*Form{Anthropic, Chat, Responses, Google, GoogleCount}

// FuzzRead compares the reader with the standard library's, which reads JSON otherwise (the last of duplicate keys counts,
// invalid UTF-8 is replaced): what was accepted means the same to both, and asks for nothing that needs a grant.
func FuzzRead(f *testing.F) {
	for i := range forms {
		f.Add(uint8(i), []byte(`{"model":"m","store":false,"tools":[{"type":"function","name":"a","parameters":{}}],"input":[{"role":"user","content":"x"}]}`))
		f.Add(uint8(i), []byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AA"}}]}]}`))
		f.Add(uint8(i), []byte(`{"contents":[{"parts":[{"text":"a"},{"fileData":{}}]}],"cachedContent":null}`))
		f.Add(uint8(i), []byte(`{"mod\u0065l":"m","max_tokens":1e2}`))
	}
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		form := forms[int(which)%len(forms)]
		kept := bytes.Clone(content)
		facts, err := form.Read(content, &Policy{Models: []string{"m"}})
		if !bytes.Equal(content, kept) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Errorf("a refusal of %d bytes", len(err.Error()))
			}
			return
		}
		var other map[string]any
		if err := json.Unmarshal(content, &other); err != nil {
			t.Fatalf("accepted, and the standard library says: %v", err)
		}
		if name, ok := other["model"].(string); ok && name != "m" || facts.Model != "" && facts.Model != "m" {
			t.Errorf("model %q, %+v", name, facts)
		}
		for _, key := range []string{
			"mcp_servers", "container", "fallbacks", "previous_response_id", "conversation", "prompt", "web_search_options", "plugins", "models", "cachedContent",
		} {
			for name, value := range other {
				if strings.EqualFold(name, key) && value != nil {
					t.Errorf("accepted %s", name)
				}
			}
		}
		tools, _ := other["tools"].([]any)
		for _, tool := range tools {
			o, _ := tool.(map[string]any)
			if kind, _ := o["type"].(string); slices.Contains([]string{"mcp", "web_search", "file_search", "code_interpreter"}, kind) {
				t.Errorf("accepted a tool of type %s", kind)
			}
		}
	})
}
