package config

import (
	"strings"

	"sandboxrun/agents"
	"sandboxrun/internal/redact"
)

// PlaceholderName stands for the run's placeholder token where that is redacted.
const PlaceholderName = "placeholder"

// HostSecrets knows the secrets of this host that its configuration leads to:
// the values of the variables in which providers and agents have their keys.
// Nothing that this program records or shows holds one. getenv may be nil where there is no environment.
func HostSecrets(c Config, getenv func(string) string) *redact.Redactor {
	r := &redact.Redactor{}
	if getenv == nil {
		return r
	}
	learn := func(variable string) {
		// A value too plain to be looked for is told of where a run uses it.
		_ = r.Add(variable, strings.TrimSpace(getenv(variable)))
	}
	for name, p := range c.Providers {
		for _, v := range p.variables(name) {
			learn(v)
		}
	}
	for _, a := range agents.All() {
		for _, v := range a.Info().Secrets {
			learn(v)
		}
	}
	return r
}
