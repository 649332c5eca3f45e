package runner

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Provider says where a model API is and where its key comes from.
type Provider struct {
	BaseURL  string `json:"base_url,omitempty"`  // called by the broker on this host
	KeyEnv   string `json:"key_env,omitempty"`   // variable of this host's environment
	KeyFile  string `json:"key_file,omitempty"`  // file nobody else may read
	UseLogin bool   `json:"use_login,omitempty"` // the agent's own login; not available yet
}

// maxKey bounds a key, in bytes. Tokens of gateways can be long.
const maxKey = 16 << 10

// over returns p where p decides and base where it does not. Whoever names a
// file means that file: a default variable does not come before it.
func (p Provider) over(base Provider) Provider {
	if p.KeyEnv != "" || p.KeyFile != "" || p.UseLogin {
		base.KeyEnv, base.KeyFile, base.UseLogin = "", "", false
	}
	return Provider{
		BaseURL:  firstSet(p.BaseURL, base.BaseURL),
		KeyEnv:   firstSet(p.KeyEnv, base.KeyEnv),
		KeyFile:  firstSet(p.KeyFile, base.KeyFile),
		UseLogin: p.UseLogin || base.UseLogin,
	}
}

// Key returns the provider's key: the variable's value, otherwise the file's.
// Surrounding white space is dropped. The error says what to set and never
// holds anything of a key.
func (p Provider) Key(getenv func(string) string) (string, error) {
	if p.UseLogin {
		return "", errors.New("use_login is not available in this version; name a key with key_env or key_file")
	}
	if p.KeyEnv != "" {
		if key := strings.TrimSpace(getenv(p.KeyEnv)); key != "" {
			return validKey("variable "+p.KeyEnv, key)
		}
	}
	if p.KeyFile != "" {
		data, err := readPrivate(p.KeyFile, maxKey)
		if err != nil {
			return "", fmt.Errorf("read key_file: %w", err)
		}
		return validKey("file "+p.KeyFile, strings.TrimSpace(string(data)))
	}
	if p.KeyEnv == "" {
		return "", errors.New("neither key_env nor key_file is configured")
	}
	return "", fmt.Errorf("variable %s is not set", p.KeyEnv)
}

// validKey refuses what cannot be sent as the value of an HTTP header.
func validKey(where, key string) (string, error) {
	switch {
	case key == "":
		return "", fmt.Errorf("%s holds no key", where)
	case len(key) > maxKey:
		return "", fmt.Errorf("%s holds more than %d bytes", where, maxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("%s holds characters that no key has", where)
	}
	return key, nil
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
