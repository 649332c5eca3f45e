package main

import (
	"sync"

	"sandboxrun/runner"
	"sandboxrun/runner/redact"
)

// hidden is what this program must not show, found out when something is first
// said.
type hidden struct {
	once  sync.Once
	known *redact.Redactor
}

// secrets knows the keys of this host. Results and events come without secrets;
// this is for what the program says itself, errors above all: they quote what
// they complain of.
func (p *program) secrets() *redact.Redactor {
	p.hidden.once.Do(func() {
		cfg, err := p.config()
		if err != nil {
			cfg = runner.DefaultConfig() // its own error may be what is to be said
		}
		p.hidden.known = runner.HostSecrets(cfg, p.getenv)
	})
	return p.hidden.known
}
