package config

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox/egress"
)

// maxKey bounds a key, in bytes. Tokens of gateways can be long.
const maxKey = 16 << 10

// envClaudeLogin holds a long-lived login token ("claude setup-token").
const envClaudeLogin = "CLAUDE_CODE_OAUTH_TOKEN"

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

// checkKey refuses what cannot be sent as the value of an HTTP header.
func checkKey(where, key string) error {
	switch {
	case key == "":
		return fmt.Errorf("%s holds no key", where)
	case len(key) > maxKey:
		return fmt.Errorf("%s holds more than %d bytes", where, maxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("%s holds characters that no key has", where)
	}
	return nil
}
