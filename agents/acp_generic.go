package agents

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/shlex"
)

const (
	// acpPrefix begins the name of an agent that is known by its command line only.
	acpPrefix = "acp:"
	// maxACPName bounds such a name, in bytes.
	maxACPName = 256
)

// genericACP is the agent whose name is acp: and a command line, such as
// "acp:qwen --acp". Its program must be in the box's image; nothing else is
// known of it. The words of the line are split as a shell splits them, but no
// shell reads them.
func genericACP(name string) (Agent, bool) {
	line, ok := strings.CutPrefix(name, acpPrefix)
	if !ok || len(name) > maxACPName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return nil, false
	}
	words, err := shlex.Split(line)
	if err != nil || len(words) == 0 || words[0] == "" || strings.HasPrefix(words[0], "-") {
		return nil, false
	}
	return acpAgent{
		info: func() Info {
			return Info{
				Name: name, Executor: "ACP", Title: "the agent " + words[0], Binary: words[0],
				Providers: []string{"openai", "anthropic", "google"},
				Wires:     []Wire{WireOpenAIChat, WireOpenAIResponses, WireAnthropicMessages, WireGoogleGenerate},
				Secrets:   []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"},
				Setup:     "have " + words[0] + " in the image of the box, and a key of the provider it works with",
				Options: []Option{{
					Name: "keep", Type: OptionStrings,
					Help: "paths below HOME that hold the conversation, for follow-ups",
				}},
			}
		},
		command: func(t Turn) (argv, env []string) {
			return append(append([]string{}, words...), t.Args...), environment(t, nil, acpEndpoint(t))
		},
		quirks: func(t Turn) acpQuirks { return acpQuirks{model: t.Model} },
	}, true
}

// acpEndpoint are the variables that by custom name an endpoint of the turn's wire.
func acpEndpoint(t Turn) map[string]string {
	env := map[string]string{}
	switch t.Wire {
	case WireOpenAIChat, WireOpenAIResponses:
		env["OPENAI_BASE_URL"], env["OPENAI_API_KEY"] = t.BaseURL+"/v1", t.Token
		if t.Model != "" {
			env["OPENAI_MODEL"] = t.Model
		}
	case WireAnthropicMessages:
		env["ANTHROPIC_BASE_URL"], env["ANTHROPIC_API_KEY"] = t.BaseURL, t.Token
		if t.Model != "" {
			env["ANTHROPIC_MODEL"] = t.Model
		}
	case WireGoogleGenerate:
		env["GOOGLE_GEMINI_BASE_URL"], env["GEMINI_API_KEY"] = t.BaseURL, t.Token
		if t.Model != "" {
			env["GEMINI_MODEL"] = t.Model
		}
	}
	return env
}
