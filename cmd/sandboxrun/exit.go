package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/internal/redact"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

// exitError is an error that only carries an exit code: everything else has been reported.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// report reports err, on standard output as a document where the command promises one, and returns the exit code.
func (p *program) report(err error) int {
	var status exitError
	switch {
	case err == nil, errors.As(err, &status) && status == document.ExitSuccess:
		return document.ExitSuccess
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, syscall.EPIPE) && !p.documents:
		return document.ExitSuccess // the reader had enough, as with head
	}
	if p.documents {
		if derr := p.errorDocument(err); derr != nil {
			p.notef("%v", derr)
		}
	}
	p.explain(err)
	return document.ErrorExitCode(err)
}

// explain prints for a person what went wrong and what to do about it.
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
	// Without standard error there is nowhere to report a failure.
	_, _ = fmt.Fprintf(p.stderr, "sandboxrun: %s\n", render.Printable(p.secrets().String(fmt.Sprintf(format, args...))))
}

// hidden is what this program must not show, read at the first output.
type hidden struct {
	once  sync.Once
	known *redact.Redactor
}

// secrets knows the keys of this host. Results and events come without secrets; this is for the program's own
// messages, above all errors, which quote their causes.
func (p *program) secrets() *redact.Redactor {
	p.hidden.once.Do(func() {
		cfg, err := p.config()
		if err != nil {
			cfg = config.Default() // the message may be the error of the configuration itself
		}
		p.hidden.known = config.HostSecrets(cfg, p.getenv)
	})
	return p.hidden.known
}
