package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sandboxrun/internal/wire"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox/egress"
)

// Key looks for the key of the named provider: the variable's value, otherwise
// the file's, otherwise the login. Surrounding white space is dropped. What it
// returns gives the broker the key for each request, and a login as it then is.
// The error says what to set and never holds anything of a key.
func (c Config) Key(name string, getenv func(string) string) (egress.KeyFunc, error) {
	p, ok := c.Providers[name]
	if !ok {
		return nil, fmt.Errorf("no provider %q is configured", name)
	}
	variables := p.variables(name)
	for _, v := range variables {
		key := strings.TrimSpace(getenv(v))
		if key == "" {
			continue
		}
		if err := checkKey("variable "+v, key); err != nil {
			return nil, err
		}
		credential := egress.CredentialOf(key)
		if v == envClaudeLogin {
			credential.Scheme = egress.SchemeLogin
		}
		return fixed(credential), nil
	}
	switch {
	case p.KeyFile != "":
		data, err := document.ReadPrivate(p.KeyFile, maxKey)
		if err != nil {
			return nil, fmt.Errorf("read key_file: %w", err)
		}
		key := strings.TrimSpace(string(data))
		if err := checkKey("file "+p.KeyFile, key); err != nil {
			return nil, err
		}
		return fixed(egress.CredentialOf(key)), nil
	case p.UseLogin:
		return loginKey(name, getenv)
	case len(variables) == 0:
		return nil, errors.New("none of key_env, key_file and use_login is configured")
	case len(variables) == 1:
		return nil, fmt.Errorf("variable %s is not set", variables[0])
	}
	return nil, fmt.Errorf("variable %s is not set, nor is %s", variables[0], variables[1])
}

// variables are where the key may be. Whoever names a variable means that one;
// the default has a second.
func (p Provider) variables(name string) []string {
	if p.KeyEnv == "" {
		return nil
	}
	if b := builtinProviders()[name]; p.KeyEnv == b.KeyEnv && b.keyEnvToo != "" {
		return []string{p.KeyEnv, b.keyEnvToo}
	}
	return []string{p.KeyEnv}
}

func fixed(c egress.Credential) egress.KeyFunc {
	return func(context.Context) (egress.Credential, error) { return c, nil }
}

// ProviderFor picks the first of the named providers that is configured with a
// base_url and speaks one of the wires, and of those wires the first it speaks.
// Both lists are an agent's, the preferred first. It looks at no key. The error
// lists what to configure.
func (c Config) ProviderFor(names []string, wires []wire.Wire) (name string, spoken wire.Wire, err error) {
	var why []string
	for _, name := range names {
		p := c.Providers[name]
		served := p.served(name)
		switch i := slices.IndexFunc(wires, func(w wire.Wire) bool { return slices.Contains(served, w) }); {
		case p.BaseURL == "" && len(served) == 0:
			why = append(why, fmt.Sprintf("set providers.%s.base_url and providers.%s.wires (of %s)", name, name, Listed(wires)))
		case p.BaseURL == "":
			why = append(why, fmt.Sprintf("set providers.%s.base_url to an API that speaks %s", name, Listed(served)))
		case i < 0:
			why = append(why, fmt.Sprintf("provider %s speaks %s, not %s", name, Listed(served), Listed(wires)))
		default:
			return name, wires[i], nil
		}
	}
	return "", "", fmt.Errorf("no provider is configured for it: %s", strings.Join(why, "; or "))
}
