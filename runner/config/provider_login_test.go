package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/sandbox/egress"
)

// claudeLogin is a login file as Claude Code writes it.
func claudeLogin(value string, expires time.Time) string {
	return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":"secret-refresh","expiresAt":%d,"scopes":["user:inference"],"subscriptionType":"max"}}`,
		value, expires.UnixMilli())
}

func TestLoginsOfTheVendorsPrograms(t *testing.T) {
	t.Parallel()
	later, before := time.Now().Add(time.Hour), time.Now().Add(-time.Second)
	tests := []struct {
		name, provider, file, text string
		mode                       os.FileMode
		want                       string
		scheme                     egress.Scheme
		message                    string
	}{
		{"claude", "anthropic", ".claude/.credentials.json", claudeLogin("secret-a", later), 0o600, "secret-a", egress.SchemeLogin, ""},
		{"claude, expired", "anthropic", ".claude/.credentials.json", claudeLogin("secret-a", before), 0o600, "", "", "run claude once to renew it"},
		{"claude, another form", "anthropic", ".claude/.credentials.json", `{"claudeAiOauth":"secret"}`, 0o600, "", "", "form"},
		{"claude, not logged in", "anthropic", ".claude/other", "", 0o600, "", "", "nobody is logged in with claude"},
		{"claude, open to others", "anthropic", ".claude/.credentials.json", claudeLogin("secret-a", later), 0o644, "", "", "chmod 600"},
		{"claude, no header value", "anthropic", ".claude/.credentials.json", claudeLogin("secret a", later), 0o600, "", "", "no key has"},
		{"claude, endless", "anthropic", ".claude/.credentials.json", claudeLogin("secret-a", later) + strings.Repeat(" ", maxLogin), 0o600, "", "", "bytes"},
		{"codex, key", "openai", ".codex/auth.json", `{"auth_mode":"apikey","OPENAI_API_KEY":"secret-c"}`, 0o600, "secret-c", egress.SchemeKey, ""},
		{"codex, account", "openai", ".codex/auth.json", `{"OPENAI_API_KEY":null,"tokens":{"access_token":"secret-c"}}`, 0o600, "", "", "belongs to another service"},
		{"codex, nothing", "openai", ".codex/auth.json", `{"OPENAI_API_KEY":null,"tokens":null}`, 0o600, "", "", "form"},
		{"gemini, key", "google", ".gemini/.env", "# mine\nOTHER=1\nexport GEMINI_API_KEY = \"secret-g\"\n", 0o600, "secret-g", egress.SchemeKey, ""},
		{"gemini, bare", "google", ".gemini/.env", "GEMINI_API_KEY=secret-g", 0o600, "secret-g", egress.SchemeKey, ""},
		{"gemini, none", "google", ".gemini/.env", "OTHER=secret\nGEMINI_API_KEY=\n", 0o600, "", "", "no line GEMINI_API_KEY"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			writeFile(t, filepath.Join(home, tt.file), tt.text, tt.mode)
			got, err := keyOf(t, tt.provider, Provider{UseLogin: true}, map[string]string{"HOME": home})
			if tt.message == "" {
				if err != nil || got.Value != tt.want || got.Scheme != tt.scheme {
					t.Errorf("key = %q %v, %v", got.Value, got.Scheme, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.message) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %q in it and nothing of the file", err, tt.message)
			}
		})
	}
	if _, err := keyOf(t, "anthropic", Provider{UseLogin: true}, map[string]string{"HOME": "relative"}); err == nil {
		t.Error("a relative HOME: no error")
	}
	moved := t.TempDir()
	writeFile(t, filepath.Join(moved, "auth.json"), `{"OPENAI_API_KEY":"k"}`, 0o600)
	if got, err := keyOf(t, "openai", Provider{UseLogin: true}, map[string]string{"CODEX_HOME": moved}); err != nil || got.Value != "k" {
		t.Errorf("moved by its variable: %q, %v", got.Value, err)
	}
}

func TestAKeyInAVariableComesBeforeTheLogin(t *testing.T) {
	t.Parallel()
	got, err := keyOf(t, "anthropic", Provider{KeyEnv: "K", UseLogin: true}, map[string]string{"K": "key", "HOME": t.TempDir()})
	if err != nil || got.Value != "key" {
		t.Errorf("key = %q, %v", got.Value, err)
	}
}

func TestARenewedLoginIsUsedForTheNextRequest(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".claude", ".credentials.json")
	soon := time.Now().Add(time.Hour)
	writeFile(t, path, claudeLogin("one", soon), 0o600)
	key, err := Config{Providers: map[string]Provider{"anthropic": {UseLogin: true}}}.Key("anthropic", environ(map[string]string{"HOME": home}))
	if err != nil {
		t.Fatal(err)
	}
	renew := func(text string) { // another file under the same name, as programs write what must not be lost
		if err := os.Rename(writeFile(t, path+".new", text, 0o600), path); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct{ what, text, want, message string }{
		{"unchanged", "", "one", ""},
		{"renewed", claudeLogin("two", soon), "two", ""},
		{"half written", `{"claudeAiOauth":{"accessT`, "two", ""},
		{"written", claudeLogin("six", soon), "six", ""},
		{"expired", claudeLogin("six", time.Now()), "", "expired"},
		{"renewed again", claudeLogin("ten", soon), "ten", ""},
	} {
		if step.text != "" {
			renew(step.text)
		}
		got, err := key(t.Context())
		if got.Value != step.want || (err == nil) != (step.message == "") || err != nil && !strings.Contains(err.Error(), step.message) {
			t.Errorf("%s: %q, %v", step.what, got.Value, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, err := key(t.Context()); err == nil {
		t.Errorf("logged out: %q is still given out", got.Value)
	}
}
