package runner

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"sandboxrun/agents"
	"sandboxrun/runner/redact"
	"sandboxrun/sandbox/egress"
)

// placeholderName stands for the run's placeholder token where that is redacted.
const placeholderName = "placeholder"

// HostSecrets knows the secrets of this host that its configuration leads to:
// the values of the variables in which providers and agents have their keys.
// None of them is needed to say anything, so nothing this program writes down
// or shows holds one. getenv may be nil where there is no environment.
func HostSecrets(c Config, getenv func(string) string) *redact.Redactor {
	r := &redact.Redactor{}
	if getenv == nil {
		return r
	}
	learn := func(variable string) {
		// A value too plain to be looked for is told of where a run uses it.
		_ = r.Add(variable, strings.TrimSpace(getenv(variable)))
	}
	for name, p := range c.Providers {
		for _, v := range p.variables(name) {
			learn(v)
		}
	}
	for _, a := range agents.All() {
		for _, v := range a.Info().Secrets {
			learn(v)
		}
	}
	return r
}

// learnSecrets makes the secrets of the run known to everything that writes
// about it: those of the host and the task, the provider's key and the
// placeholder. The key is asked for at once, before anything could tell of it,
// and whatever it is renewed to becomes known with the request that first
// carries it.
func (x *run) learnSecrets(ctx context.Context) {
	x.secrets = HostSecrets(x.r.o.Config, x.r.o.Getenv)
	x.log.secrets, x.dir.secrets = x.secrets, x.secrets
	for name, value := range x.plan.taskSecrets() {
		_ = x.secrets.Add(name, value) // what is too plain for that does not look secret
	}
	if x.token != "" {
		_ = x.secrets.Add(placeholderName, x.token) // never too plain
	}
	if x.key == nil {
		return
	}
	var once sync.Once
	key, name := x.key, x.providerName()+"-key"
	x.key = func(ctx context.Context) (egress.Credential, error) {
		c, err := key(ctx)
		if err == nil {
			err := x.secrets.Add(name, c.Value)
			once.Do(func() { x.unhidden = err })
		}
		return c, err
	}
	_, _ = x.key(ctx) // what is wrong with it is the broker's to say
}

// tellUnhidden says that the key is such that nothing can be kept clean of it.
func (x *run) tellUnhidden() {
	if err := x.unhidden; err != nil {
		x.log.emit("", EventSystemMessage, map[string]any{
			"text": fmt.Sprintf("the key of provider %s is not kept out of logs and results: it is %v", x.providerName(), err)})
	}
}
