package egress

import (
	"context"
	"net/http"
	"strings"
)

// Credential is what the broker sends to the provider in place of the placeholder.
type Credential struct {
	Value  string // never empty, printable ASCII
	Scheme Scheme
}

// Scheme is the kind of a credential; some providers expect each kind in a different header.
type Scheme string

// The kinds of credentials.
const (
	SchemeKey   Scheme = "key"   // an API key
	SchemeLogin Scheme = "login" // the access token of a user's login
)

// CredentialOf derives the kind of a credential from its vendor's prefix.
func CredentialOf(value string) Credential {
	// Anthropic's tokens for Claude Code, Google's OAuth 2.0 access tokens.
	for _, prefix := range []string{"sk-ant-oat", "ya29."} {
		if strings.HasPrefix(value, prefix) {
			return Credential{value, SchemeLogin}
		}
	}
	return Credential{value, SchemeKey}
}

// String hides the value where a credential is printed.
func (c Credential) String() string { return "[" + string(c.Scheme) + "]" }

// usable reports whether the value can be sent at all.
func (c Credential) usable() bool {
	return c.Value != "" && !strings.ContainsFunc(c.Value, func(r rune) bool { return r <= ' ' || r > '~' })
}

// KeyFunc returns a provider's credential. It is called for every request, from several goroutines, so a login may be
// renewed during a run. Its error never reaches the box.
type KeyFunc func(ctx context.Context) (Credential, error)

// StaticKey returns a KeyFunc for a key that does not change.
func StaticKey(key string) KeyFunc {
	c := CredentialOf(strings.TrimSpace(key))
	return func(context.Context) (Credential, error) { return c, nil }
}

// credentialHeaders are where clients put their key; the broker looks for the placeholder in each and forwards none of
// them.
var credentialHeaders = []string{"X-Api-Key", "Authorization", "X-Goog-Api-Key"}

func setBearer(h http.Header, c Credential) { h.Set("Authorization", "Bearer "+c.Value) }
