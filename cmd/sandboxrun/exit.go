package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/internal/redact"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

// exitError is an error that only carries an exit code: everything there is to
// say has been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageFailed turns an error of the flag parser into one of ours, instead of
// the library's own text on standard output.
func usageFailed(c *cli.Context, err error, _ bool) error {
	name := c.Command.HelpName
	if name == "" {
		name = c.App.Name
	}
	return &document.InputError{Message: err.Error(), Hint: fmt.Sprintf("see \"%s --help\"", name)}
}

// report says what err is, on standard output as a document where the command
// promises one, and returns the exit code.
func (p *program) report(err error) int {
	var status exitError
	switch {
	case err == nil, errors.As(err, &status) && status == document.ExitSuccess:
		return document.ExitSuccess
	case errors.As(err, &status):
		return int(status)
	}
	if p.documents {
		if derr := p.errorDocument(err); derr != nil {
			p.notef("%v", derr)
		}
	}
	p.explain(err)
	return document.ErrorExitCode(err)
}

// explain tells a person what went wrong and what to do about it.
func (p *program) explain(err error) {
	text, _ := document.EncodeError(err)
	var doc struct {
		Error struct {
			Message string            `json:"message"`
			Hint    string            `json:"hint"`
			Details []document.Detail `json:"details"`
		} `json:"error"`
	}
	if jerr := json.Unmarshal(text, &doc); jerr != nil {
		p.notef("%v", err)
		return
	}
	p.notef("%s", doc.Error.Message)
	for _, d := range doc.Error.Details {
		p.notef("  %s", strings.TrimSpace(d.Path+" "+d.Message))
	}
	if doc.Error.Hint != "" {
		p.notef("  → %s", doc.Error.Hint)
	}
}

// notef writes one line about this program itself to standard error.
func (p *program) notef(format string, args ...any) {
	// Nobody is left to tell when standard error is gone.
	_, _ = fmt.Fprintf(p.stderr, "sandboxrun: %s\n", render.Printable(p.secrets().String(fmt.Sprintf(format, args...))))
}

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
			cfg = config.Default() // its own error may be what is to be said
		}
		p.hidden.known = config.HostSecrets(cfg, p.getenv)
	})
	return p.hidden.known
}
