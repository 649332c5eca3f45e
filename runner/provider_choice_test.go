package runner

import (
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/sandbox/egress"
)

func TestProvidersAreChosenByPreference(t *testing.T) {
	t.Parallel()
	c := DefaultConfig()
	c.Providers["mine"] = Provider{BaseURL: "http://m", Wires: []agents.Wire{agents.WireOpenAIChat, agents.WireAnthropicMessages}}
	c.Providers["github"] = Provider{BaseURL: "http://h"}
	const messages, responses, chat, generate = agents.WireAnthropicMessages, agents.WireOpenAIResponses, agents.WireOpenAIChat, agents.WireGoogleGenerate
	for _, tt := range []struct {
		names    []string
		wires    []agents.Wire
		name     string
		wire     agents.Wire
		mentions []string
	}{
		{[]string{"anthropic"}, []agents.Wire{messages}, "anthropic", messages, nil},
		{[]string{"openai", "anthropic"}, []agents.Wire{messages, chat, responses}, "openai", chat, nil},
		{[]string{"factory", "anthropic"}, []agents.Wire{messages, chat}, "anthropic", messages, nil},
		{[]string{"mine"}, []agents.Wire{messages, chat}, "mine", messages, nil},
		{[]string{"google", "openai"}, []agents.Wire{responses}, "openai", responses, nil},
		{[]string{"github"}, []agents.Wire{responses, chat}, "github", responses, nil},
		{[]string{"google"}, []agents.Wire{generate}, "google", generate, nil},
		{[]string{"factory"}, []agents.Wire{chat}, "", "", []string{"providers.factory.base_url", "openai-chat"}},
		{[]string{"google", "none"}, []agents.Wire{chat}, "", "", []string{"google speaks google-generate, not openai-chat", "providers.none.base_url", "providers.none.wires"}},
	} {
		name, wire, err := c.ProviderFor(tt.names, tt.wires)
		if name != tt.name || wire != tt.wire || (err == nil) != (tt.mentions == nil) {
			t.Errorf("ProviderFor(%v, %v) = %q, %q, %v", tt.names, tt.wires, name, wire, err)
		}
		for _, m := range tt.mentions {
			if err != nil && !strings.Contains(err.Error(), m) {
				t.Errorf("%v, %v: %q does not say %q", tt.names, tt.wires, err, m)
			}
		}
	}
}

// Agents and the broker are rooms that do not know each other.
func TestAgentsAndTheBrokerNameTheSameWires(t *testing.T) {
	t.Parallel()
	for _, w := range []agents.Wire{agents.WireAnthropicMessages, agents.WireOpenAIResponses, agents.WireOpenAIChat, agents.WireGoogleGenerate} {
		if !slices.Contains(egress.Wires(), egress.Wire(w)) {
			t.Errorf("the broker does not speak %s", w)
		}
	}
	for _, a := range agents.All() {
		for _, w := range a.Info().Wires {
			if !slices.Contains(egress.Wires(), egress.Wire(w)) {
				t.Errorf("the broker does not speak %s of agent %s", w, a.Info().Name)
			}
		}
	}
}
