package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/sandbox/egress"
)

// keyOf asks for a provider's key and then for the credential of one request.
func keyOf(t *testing.T, name string, p Provider, vars map[string]string) (egress.Credential, error) {
	t.Helper()
	key, err := Config{Providers: map[string]Provider{name: p}}.Key(name, environ(vars))
	if err != nil {
		return egress.Credential{}, err
	}
	return key(t.Context())
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProviderKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		return writeFile(t, filepath.Join(dir, name), text, mode)
	}
	vars := map[string]string{
		"KEY": " from-env\n", "BAD": "secret two", "BLANK": " ", "LONG": strings.Repeat("k", maxKey+1), "TOKEN": "sk-ant-oat01-x",
		"CLAUDE_CODE_OAUTH_TOKEN": "oauth", "GOOGLE_API_KEY": "google",
	}
	login := func(value string) egress.Credential {
		return egress.Credential{Value: value, Scheme: egress.SchemeLogin}
	}
	good := file("good", "from-file\n", 0o600)
	tests := []struct {
		name, provider string
		want           egress.Credential
		message        string
		p              Provider
	}{
		{"variable", "mine", egress.CredentialOf("from-env"), "", Provider{KeyEnv: "KEY"}},
		{"file", "mine", egress.CredentialOf("from-file"), "", Provider{KeyFile: good}},
		{"variable before file", "mine", egress.CredentialOf("from-env"), "", Provider{KeyEnv: "KEY", KeyFile: good}},
		{"file when the variable is blank", "mine", egress.CredentialOf("from-file"), "", Provider{KeyEnv: "BLANK", KeyFile: good}},
		{"login token in a variable", "anthropic", login("sk-ant-oat01-x"), "", Provider{KeyEnv: "TOKEN"}},
		{"the default's second variable", "anthropic", login("oauth"), "", Provider{KeyEnv: "ANTHROPIC_API_KEY"}},
		{"Google's second variable", "google", egress.CredentialOf("google"), "", Provider{KeyEnv: "GEMINI_API_KEY"}},
		{"no second variable for a named one", "anthropic", egress.Credential{}, "variable NONE is not set", Provider{KeyEnv: "NONE"}},
		{"no second variable for another provider", "mine", egress.Credential{}, "variable ANTHROPIC_API_KEY is not set", Provider{KeyEnv: "ANTHROPIC_API_KEY"}},
		{"unset variable", "openai", egress.Credential{}, "variable OPENAI_API_KEY is not set", Provider{KeyEnv: "OPENAI_API_KEY"}},
		{"nothing configured", "mine", egress.Credential{}, "none of key_env, key_file and use_login", Provider{}},
		{"no login of that kind", "mine", egress.Credential{}, "no login to use", Provider{UseLogin: true}},
		{"missing file", "mine", egress.Credential{}, "no such file", Provider{KeyFile: filepath.Join(dir, "none")}},
		{"readable by others", "mine", egress.Credential{}, "chmod 600", Provider{KeyFile: file("open", "k", 0o644)}},
		{"empty file", "mine", egress.Credential{}, "holds no key", Provider{KeyFile: file("empty", "\n", 0o600)}},
		{"endless file", "mine", egress.Credential{}, "bytes", Provider{KeyFile: file("long", strings.Repeat("k", maxKey+1), 0o600)}},
		{"endless variable", "mine", egress.Credential{}, "bytes", Provider{KeyEnv: "LONG"}},
		{"device", "mine", egress.Credential{}, "not a regular file", Provider{KeyFile: "/dev/zero"}},
		{"no header value", "mine", egress.Credential{}, "no key has", Provider{KeyEnv: "BAD"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := keyOf(t, tt.provider, tt.p, vars)
			if tt.message == "" {
				if got != tt.want || err != nil {
					t.Errorf("key = %q %v, %v, want %q %v", got.Value, got.Scheme, err, tt.want.Value, tt.want.Scheme)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("error %v, want %q in it", err, tt.message)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("error %q holds the key", err)
			}
		})
	}
	if _, err := (Config{}).Key("none", environ(nil)); err == nil {
		t.Error("a provider nobody configured has a key")
	}
}
