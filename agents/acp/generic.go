package acp

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"

	"github.com/kballard/go-shellquote"
)

func init() { agents.RegisterForm(prefix, generic) }

const (
	// prefix begins the name of an agent that is known by its command line only.
	prefix = "acp:"
	// maxName bounds such a name, in bytes.
	maxName = 256
)

// generic is the agent whose name is acp: and a command line, such as
// "acp:qwen --acp". Its program must be in the box's image; nothing else is
// known of it. The words of the line are split as a shell splits them, but no
// shell reads them.
func generic(name string) (agents.Agent, bool) {
	line, ok := strings.CutPrefix(name, prefix)
	if !ok || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return nil, false
	}
	words, err := shellquote.Split(line)
	if err != nil || len(words) == 0 || words[0] == "" || strings.HasPrefix(words[0], "-") {
		return nil, false
	}
	return agent{
		info: func() agents.Info {
			return agents.Info{
				Name: name, Executor: "ACP", Title: "the agent " + words[0], Binary: words[0],
				Providers: []string{"openai", "anthropic", "google"},
				Wires:     []wire.Wire{wire.OpenAIChat, wire.OpenAIResponses, wire.AnthropicMessages, wire.GoogleGenerate},
				Secrets:   []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"},
				Setup:     "have " + words[0] + " in the image of the box, and a key of the provider it works with",
				Options: []agents.Option{{
					Name: "keep", Type: agents.OptionStrings,
					Help: "paths below HOME that hold the conversation, for follow-ups",
				}},
			}
		},
		command: func(t agents.Turn) (argv, env []string) {
			return append(append([]string{}, words...), t.Args...), cli.Environment(t, nil, endpointVariables(t))
		},
		quirks: func(t agents.Turn) quirks { return quirks{model: t.Model} },
	}, true
}

// endpointVariables are the variables that by custom name an endpoint of the turn's wire.
func endpointVariables(t agents.Turn) map[string]string {
	env := map[string]string{}
	switch t.Wire {
	case wire.OpenAIChat, wire.OpenAIResponses:
		env["OPENAI_BASE_URL"], env["OPENAI_API_KEY"] = t.BaseURL+"/v1", t.Token
		if t.Model != "" {
			env["OPENAI_MODEL"] = t.Model
		}
	case wire.AnthropicMessages:
		env["ANTHROPIC_BASE_URL"], env["ANTHROPIC_API_KEY"] = t.BaseURL, t.Token
		if t.Model != "" {
			env["ANTHROPIC_MODEL"] = t.Model
		}
	case wire.GoogleGenerate:
		env["GOOGLE_GEMINI_BASE_URL"], env["GEMINI_API_KEY"] = t.BaseURL, t.Token
		if t.Model != "" {
			env["GEMINI_MODEL"] = t.Model
		}
	}
	return env
}
