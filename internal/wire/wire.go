// Package wire names the model APIs: what an agent speaks, what a provider
// serves, what the broker forwards and what the scripted model answers.
package wire

// Wire is one model API, by the name that configurations give it.
type Wire string

// The wires there are. A new one also needs a dialect in sandbox/egress, a
// protocol in agents/scripted/modelserver and its name in
// schemas/config.schema.json; a test of each place says what is missing.
const (
	AnthropicMessages Wire = "anthropic-messages"
	OpenAIResponses   Wire = "openai-responses"
	OpenAIChat        Wire = "openai-chat"
	GoogleGenerate    Wire = "google-generate"
)

// All returns every wire.
func All() []Wire { return []Wire{AnthropicMessages, OpenAIResponses, OpenAIChat, GoogleGenerate} }
