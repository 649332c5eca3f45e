package config

import (
	"strings"
	"testing"

	"sandboxrun/internal/wire"
)

func TestProvidersAreChosenByPreference(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Providers["mine"] = Provider{BaseURL: "http://m", Wires: []wire.Wire{wire.OpenAIChat, wire.AnthropicMessages}}
	c.Providers["github"] = Provider{BaseURL: "http://h"}
	const messages, responses, chat, generate = wire.AnthropicMessages, wire.OpenAIResponses, wire.OpenAIChat, wire.GoogleGenerate
	for _, tt := range []struct {
		names    []string
		wires    []wire.Wire
		name     string
		wire     wire.Wire
		mentions []string
	}{
		{[]string{"anthropic"}, []wire.Wire{messages}, "anthropic", messages, nil},
		{[]string{"openai", "anthropic"}, []wire.Wire{messages, chat, responses}, "openai", chat, nil},
		{[]string{"factory", "anthropic"}, []wire.Wire{messages, chat}, "anthropic", messages, nil},
		{[]string{"mine"}, []wire.Wire{messages, chat}, "mine", messages, nil},
		{[]string{"google", "openai"}, []wire.Wire{responses}, "openai", responses, nil},
		{[]string{"github"}, []wire.Wire{responses, chat}, "github", responses, nil},
		{[]string{"google"}, []wire.Wire{generate}, "google", generate, nil},
		{[]string{"factory"}, []wire.Wire{chat}, "", "", []string{"providers.factory.base_url", "openai-chat"}},
		{[]string{"google", "none"}, []wire.Wire{chat}, "", "", []string{"google speaks google-generate, not openai-chat", "providers.none.base_url", "providers.none.wires"}},
	} {
		name, spoken, err := c.ProviderFor(tt.names, tt.wires)
		if name != tt.name || spoken != tt.wire || (err == nil) != (tt.mentions == nil) {
			t.Errorf("ProviderFor(%v, %v) = %q, %q, %v", tt.names, tt.wires, name, spoken, err)
		}
		for _, m := range tt.mentions {
			if err != nil && !strings.Contains(err.Error(), m) {
				t.Errorf("%v, %v: %q does not say %q", tt.names, tt.wires, err, m)
			}
		}
	}
}
