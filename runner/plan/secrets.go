package plan

import (
	"regexp"
	"strings"
	"unicode"

	"sandboxrun/internal/redact"
)

// secretNames are names of variables and headers whose values are secrets by
// everybody's custom.
var secretNames = regexp.MustCompile(`(?i)(secret|passw|passphrase|credential|(token|key|pat|auth|authorization|cookie)$)`)

// minTaskSecret is how long a value from a task is at least to be taken for a
// secret, in bytes. "postgres" is a password of databases made for tests; were
// it hidden, and kept from landing, no word of such a project could be read.
const minTaskSecret = 16

// TaskSecrets are values that a task or profile lends to the box and that must
// not come back from there: those whose names say so and which look it. An
// agent may use them; a log, a result or a branch is read by others.
func (p *Plan) TaskSecrets() map[string]string {
	found := map[string]string{}
	for name, value := range p.lent() {
		if looksSecret(value) {
			found[name] = value
		}
	}
	return found
}

// Forgotten says whether this plan was read from a disk that its secrets are
// kept from.
func (p *Plan) Forgotten() bool {
	for name, value := range p.lent() {
		if value == redact.Mark(name) {
			return true
		}
	}
	return false
}

// lent are the values that are called secret by their names.
func (p *Plan) lent() map[string]string {
	found := map[string]string{}
	add := func(prefix string, values map[string]string) {
		for name, value := range values {
			// Of "Bearer x" the x is the secret, with whatever else it is sent.
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

// looksSecret tells values that were generated from words and paths.
func looksSecret(value string) bool {
	return len(value) >= minTaskSecret && !strings.ContainsAny(value[:1], "/.~") &&
		strings.ContainsFunc(value, unicode.IsDigit) && strings.ContainsFunc(value, unicode.IsLetter)
}
