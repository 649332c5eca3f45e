package egress

import (
	"context"
	"net/http"
	"strings"
)

// Credential is what the provider gets in place of the placeholder.
type Credential struct {
	Value  string // never empty, printable ASCII
	Scheme Scheme
}

// Scheme says what kind of credential it is, which decides how some providers
// want it sent.
type Scheme string

// The kinds of credentials.
const (
	SchemeKey   Scheme = "key"   // an API key
	SchemeLogin Scheme = "login" // the access token of somebody's login
)

// CredentialOf tells the kind of a credential by how its vendor begins it.
func CredentialOf(value string) Credential {
	// Anthropic's tokens for Claude Code, Google's OAuth 2.0 access tokens.
	for _, prefix := range []string{"sk-ant-oat", "ya29."} {
		if strings.HasPrefix(value, prefix) {
			return Credential{value, SchemeLogin}
		}
	}
	return Credential{value, SchemeKey}
}

// String hides the value from whoever prints a credential.
func (c Credential) String() string { return "[" + string(c.Scheme) + "]" }

// usable says whether the value can be sent at all.
func (c Credential) usable() bool {
	return c.Value != "" && !strings.ContainsFunc(c.Value, func(r rune) bool { return r <= ' ' || r > '~' })
}

// KeyFunc returns a provider's credential. It is called for every request, from
// several goroutines, so a login may be renewed during a run. Its error is never
// shown to the box.
type KeyFunc func(ctx context.Context) (Credential, error)

// StaticKey returns a KeyFunc for a key that does not change.
func StaticKey(key string) KeyFunc {
	c := CredentialOf(strings.TrimSpace(key))
	return func(context.Context) (Credential, error) { return c, nil }
}

// credentialHeaders are where clients put their key; the broker looks for the
// placeholder in each and forwards none.
var credentialHeaders = []string{"X-Api-Key", "Authorization", "X-Goog-Api-Key"}

func setBearer(h http.Header, c Credential) { h.Set("Authorization", "Bearer "+c.Value) }
