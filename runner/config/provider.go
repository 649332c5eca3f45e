package config

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/internal/wire"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/sandbox/egress"
)

// Provider says where a model API is, which wires it speaks and where its key
// comes from.
type Provider struct {
	BaseURL  string      `json:"base_url,omitempty"`  // called by the broker on this host
	KeyEnv   string      `json:"key_env,omitempty"`   // variable of this host's environment
	KeyFile  string      `json:"key_file,omitempty"`  // file nobody else may read
	UseLogin bool        `json:"use_login,omitempty"` // of the vendor's own program on this host
	Wires    []wire.Wire `json:"wires,omitempty"`     // empty for those its name stands for
	// Allow is what a task may have the provider do beyond answering (agent.grants).
	Allow []egress.Grant `json:"allow,omitempty"`
	// Models may be asked for by every agent, beside the one that a task names; a * stands for any text.
	Models []string `json:"models,omitempty"`
}

// builtinProvider is a provider that goes without configuration, or without
// most of it.
type builtinProvider struct {
	Provider
	baseURLEnv string // variable that carries its base_url
	keyEnvToo  string // variable that counts while the default key_env is not set
}

// builtinProviders are the providers this program knows by name. The variables
// are those the vendors' own programs read: a key for a gateway lives in the
// same environment as the gateway's address, and must not be sent anywhere else.
// An agent may have a provider of its own for the models of its vendor, which no
// broker can serve; with a base_url it uses the model APIs there instead.
func builtinProviders() map[string]builtinProvider {
	all := map[string]builtinProvider{
		"anthropic": {
			Provider: Provider{
				BaseURL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY",
				Wires: []wire.Wire{wire.AnthropicMessages},
			},
			baseURLEnv: "ANTHROPIC_BASE_URL", keyEnvToo: envClaudeLogin,
		},
		"openai": {
			Provider: Provider{
				BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY",
				Wires: []wire.Wire{wire.OpenAIResponses, wire.OpenAIChat},
			},
			baseURLEnv: "OPENAI_BASE_URL",
		},
		"google": {
			Provider: Provider{
				BaseURL: "https://generativelanguage.googleapis.com", KeyEnv: "GEMINI_API_KEY",
				Wires: []wire.Wire{wire.GoogleGenerate},
			},
			baseURLEnv: "GOOGLE_GEMINI_BASE_URL", keyEnvToo: "GOOGLE_API_KEY",
		},
	}
	for _, a := range agents.All() {
		if v := a.Info().Vendor; v != nil {
			all[v.Name] = builtinProvider{Provider: Provider{KeyEnv: v.KeyEnv, Wires: v.Wires}}
		}
	}
	return all
}

// defaultProviders are the providers of a configuration that names none. Their
// wires follow from their names.
func defaultProviders() map[string]Provider {
	all := map[string]Provider{}
	for name, b := range builtinProviders() {
		b.Wires = nil
		all[name] = b.Provider
	}
	return all
}

// served lists the wires the provider of that name speaks.
func (p Provider) served(name string) []wire.Wire {
	if len(p.Wires) > 0 {
		return p.Wires
	}
	return builtinProviders()[name].Wires
}

// over returns p where p decides and base where it does not. Whoever names a
// file means that file: a default variable does not come before it.
func (p Provider) over(base Provider) Provider {
	if p.KeyEnv != "" || p.KeyFile != "" || p.UseLogin {
		base.KeyEnv, base.KeyFile, base.UseLogin = "", "", false
	}
	wires := p.Wires
	if len(wires) == 0 {
		wires = base.Wires
	}
	return Provider{
		BaseURL:  cmp.Or(p.BaseURL, base.BaseURL),
		KeyEnv:   cmp.Or(p.KeyEnv, base.KeyEnv),
		KeyFile:  cmp.Or(p.KeyFile, base.KeyFile),
		UseLogin: p.UseLogin || base.UseLogin,
		Wires:    wires,
		Allow:    slices.Concat(base.Allow, p.Allow),
		Models:   slices.Concat(base.Models, p.Models),
	}
}

// validate says what is wrong with the provider of that name, at its pointer.
func (p Provider) validate(at, name string, add *document.Problems) {
	_, builtin := builtinProviders()[name]
	if p.BaseURL != "" {
		if why := urlProblem(p.BaseURL); why != "" {
			add.Add(at+"/base_url", "%s", why)
		}
	}
	for i, w := range p.Wires {
		if !slices.Contains(wire.All(), w) {
			add.Add(fmt.Sprintf("%s/wires/%d", at, i), "no wire is called %q (there are: %s)", excerpt.Clip(string(w), 64), Listed(wire.All()))
		}
	}
	for i, g := range p.Allow {
		if !slices.Contains(egress.Grants(), g) {
			add.Add(fmt.Sprintf("%s/allow/%d", at, i), "nothing is called %q that a provider could do for a run (there are: %s)", excerpt.Clip(string(g), 64), Listed(egress.Grants()))
		}
	}
	if p.UseLogin && loginFiles[name] == nil {
		add.Add(at+"/use_login", "there is no login to use for provider %s; name a key with key_env or key_file", name)
	}
	if builtin {
		return
	}
	if p.BaseURL == "" {
		add.Add(at+"/base_url", "is required: %s is no provider this program knows", excerpt.Clip(name, 64))
	}
	if len(p.Wires) == 0 {
		add.Add(at+"/wires", "is required: %s is no provider this program knows (there are: %s)", excerpt.Clip(name, 64), Listed(wire.All()))
	}
}

// Listed writes names for people.
func Listed[T ~string](names []T) string {
	var texts []string
	for _, n := range names {
		texts = append(texts, string(n))
	}
	return strings.Join(texts, ", ")
}

// urlProblem says why a base_url cannot be called; "" when it can.
func urlProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "must be an http or https URL with a host"
	case u.User != nil:
		return "must not hold credentials; name the key with key_env or key_file"
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "must not have a query or fragment"
	}
	return ""
}
