package plan

import (
	"regexp"
	"strings"
	"unicode"

	"sandboxrun/internal/redact"
)

// secretNames matches names of variables and headers whose values are secrets by convention.
var secretNames = regexp.MustCompile(`(?i)(secret|passw|passphrase|credential|(token|key|pat|auth|authorization|cookie)$)`)

// minTaskSecret is the minimum length, in bytes, of a value from a task that counts as a secret. "postgres" is a
// password of test databases; if it were hidden, and prevented landing, no text of such a project could be read.
const minTaskSecret = 16

// TaskSecrets are values that a task or profile lends to the box and that must not come back from it: those that look
// like secrets by name and value. An agent may use them; others read a log, a result or a branch.
func (p *Plan) TaskSecrets() map[string]string {
	found := map[string]string{}
	for name, value := range p.lent() {
		if looksSecret(value) {
			found[name] = value
		}
	}
	return found
}

// Forgotten reports whether this plan was read from a disk, where its secrets are not stored.
func (p *Plan) Forgotten() bool {
	for name, value := range p.lent() {
		if value == redact.Mark(name) {
			return true
		}
	}
	return false
}

// lent are the values whose names mark them as secrets.
func (p *Plan) lent() map[string]string {
	found := map[string]string{}
	add := func(prefix string, values map[string]string) {
		for name, value := range values {
			// In "Bearer x", x is the secret.
			if words := strings.Fields(value); len(words) > 0 && secretNames.MatchString(name) {
				found[prefix+name] = words[len(words)-1]
			}
		}
	}
	add("", p.Box.Env)
	if p.Agent == nil {
		return found
	}
	add("", p.Agent.Env)
	for _, s := range p.Agent.MCP {
		add(s.Name+".", s.Server.Env)
		add(s.Name+".", s.Server.Headers)
	}
	return found
}

// looksSecret distinguishes generated values from words and paths.
func looksSecret(value string) bool {
	return len(value) >= minTaskSecret && !strings.ContainsAny(value[:1], "/.~") &&
		strings.ContainsFunc(value, unicode.IsDigit) && strings.ContainsFunc(value, unicode.IsLetter)
}
