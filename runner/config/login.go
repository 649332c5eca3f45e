package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox/egress"
)

// maxKey bounds a key, in bytes. Tokens of gateways can be long.
const maxKey = 16 << 10

// maxLogin bounds a file that holds a login, in bytes.
const maxLogin = 256 << 10

// token is what a login file holds.
type token struct {
	egress.Credential
	expires time.Time // zero when the file does not say
}

// loginFile is how the login of one vendor's program is found on this host.
type loginFile struct {
	program string // as one starts it
	dirEnv  string // variable that moves the program's directory; "" when none does
	dir     string // its directory below HOME
	file    string
	read    func(data []byte) (token, error) // the error holds nothing of the file
}

// loginFiles are the logins there are, by provider. Observed: Claude Code
// 2.1.329, Codex 0.169.0, Gemini CLI 0.61.0.
var loginFiles = map[string]*loginFile{
	"anthropic": {"claude", "CLAUDE_CONFIG_DIR", ".claude", ".credentials.json", readClaudeLogin},
	"openai":    {"codex", "CODEX_HOME", ".codex", "auth.json", readCodexLogin},
	"google":    {"gemini", "", ".gemini", ".env", readGeminiLogin},
}

var errLoginForm = errors.New("the file has not the form that is known")

// login gives out the token of one file. Its program renews the token, so the
// file is looked at for every request and read again when it changed.
type login struct {
	file *loginFile
	path string

	mu   sync.Mutex
	read fs.FileInfo // the file as it was read; nil before
	held token
}

// loginKey finds the provider's login and checks that it can be used now.
func loginKey(provider string, getenv func(string) string) (egress.KeyFunc, error) {
	file := loginFiles[provider]
	if file == nil {
		return nil, fmt.Errorf("there is no login to use for provider %s; name a key with key_env or key_file", provider)
	}
	dir := ""
	if file.dirEnv != "" {
		dir = getenv(file.dirEnv)
	}
	if dir == "" {
		dir = filepath.Join(getenv("HOME"), file.dir)
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("the login of %s is below HOME, which is not an absolute path", file.program)
	}
	l := &login{file: file, path: filepath.Join(dir, file.file)}
	if _, err := l.now(); err != nil {
		return nil, err
	}
	return func(context.Context) (egress.Credential, error) { return l.now() }, nil
}

// now returns the credential of this moment.
func (l *login) now() (egress.Credential, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fi, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return egress.Credential{}, fmt.Errorf("nobody is logged in with %s on this host: %w", l.file.program, err)
	}
	if err != nil {
		return egress.Credential{}, fmt.Errorf("login of %s: %w", l.file.program, err)
	}
	if l.read == nil || !os.SameFile(l.read, fi) || l.read.Size() != fi.Size() || !l.read.ModTime().Equal(fi.ModTime()) {
		held, err := l.load()
		switch {
		case err == nil:
			l.held, l.read = held, fi
		case errors.Is(err, errLoginForm) && l.read != nil:
			// Being written just now: the old token is good until it expires.
		default:
			return egress.Credential{}, fmt.Errorf("login of %s: %s: %w", l.file.program, l.path, err)
		}
	}
	if !l.held.expires.IsZero() && !time.Now().Before(l.held.expires) {
		return egress.Credential{}, fmt.Errorf("the login of %s has expired; run %s once to renew it", l.file.program, l.file.program)
	}
	return l.held.Credential, nil
}

func (l *login) load() (token, error) {
	data, err := document.ReadPrivate(l.path, maxLogin)
	if err != nil {
		return token{}, err
	}
	t, err := l.file.read(data)
	if err != nil {
		return token{}, err
	}
	return t, checkKey("it", t.Value)
}

func readClaudeLogin(data []byte) (token, error) {
	var d struct {
		OAuth struct {
			Token   string `json:"accessToken"`
			Expires int64  `json:"expiresAt"` // milliseconds since 1970
		} `json:"claudeAiOauth"`
	}
	if json.Unmarshal(data, &d) != nil || d.OAuth.Token == "" {
		return token{}, errLoginForm
	}
	t := token{Credential: egress.Credential{Value: d.OAuth.Token, Scheme: egress.SchemeLogin}}
	if d.OAuth.Expires > 0 {
		t.expires = time.UnixMilli(d.OAuth.Expires)
	}
	return t, nil
}

func readCodexLogin(data []byte) (token, error) {
	var d struct {
		Key    string          `json:"OPENAI_API_KEY"`
		Tokens json.RawMessage `json:"tokens"`
	}
	switch {
	case json.Unmarshal(data, &d) != nil:
		return token{}, errLoginForm
	case d.Key != "":
		return token{Credential: egress.CredentialOf(d.Key)}, nil
	case len(d.Tokens) > 0 && string(d.Tokens) != "null":
		return token{}, errors.New("codex is logged in with an account, which belongs to another service than the API; " +
			"name an API key with key_env or key_file")
	}
	return token{}, errLoginForm
}

// readGeminiLogin reads the file of variables Gemini CLI takes a key from. Its
// login with an account belongs to another service than the API.
func readGeminiLogin(data []byte) (token, error) {
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if !ok || strings.TrimSpace(name) != "GEMINI_API_KEY" {
			continue
		}
		value = strings.TrimSpace(value)
		if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		if value != "" {
			return token{Credential: egress.CredentialOf(value)}, nil
		}
	}
	return token{}, errors.New("it has no line GEMINI_API_KEY=..., and a login with an account belongs to another service than the API; " +
		"name an API key with key_env or key_file")
}

// envClaudeLogin holds a long-lived login token ("claude setup-token").
const envClaudeLogin = "CLAUDE_CODE_OAUTH_TOKEN"

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
