package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"sandboxrun/runner/document"
)

// document writes the one JSON document of a command. See documentText.
func (p *program) document(v any) error {
	b, err := document.Encode(v)
	if err != nil {
		return fmt.Errorf("encode document: %w", err)
	}
	return p.documentText(b)
}

// errorDocument writes the document that reports err instead of a result.
func (p *program) errorDocument(err error) error {
	b, _ := document.EncodeError(err)
	return p.documentText(p.secrets().JSON(b))
}

// documentText writes a document that ends in a newline: a copy to the output file, when there is one, and one write
// to standard output, unless a person gets a report there. Both are tried. Of two callers, a run that ends and a second signal, the later one does nothing.
//
// The later one waits, so that the process does not end in the middle of the document.
func (p *program) documentText(b []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.written {
		return nil
	}
	p.written = true
	if p.compact {
		var line bytes.Buffer
		if err := json.Compact(&line, b); err != nil {
			return fmt.Errorf("encode document: %w", err)
		}
		b = append(line.Bytes(), '\n')
	}
	var errs []error
	if p.output != "" {
		if err := writeOutput(p.output, b); err != nil {
			errs = append(errs, fmt.Errorf("write document to file: %w", err))
		}
	}
	if p.people {
		return errors.Join(errs...)
	}
	if _, err := p.stdout.Write(b); err != nil {
		errs = append(errs, fmt.Errorf("write document to standard output: %w", err))
	}
	return errors.Join(errs...)
}

// writeOutput replaces a file in one step, so that no reader sees half of it. An existing file that is not a regular
// one (a pipe, /dev/null) is written to instead.
func writeOutput(name string, b []byte) error {
	fi, err := os.Stat(name)
	if err != nil || fi.Mode().IsRegular() {
		return renameio.WriteFile(name, b, 0o600)
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// jsonFlag is the same on every command that has it.
var jsonFlag = &cli.BoolFlag{Name: "json", Usage: "print JSON instead of a table"}

// printJSON writes v to standard output as one indented document.
func (p *program) printJSON(v any) error {
	b, err := document.Encode(v)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	_, err = p.stdout.Write(b)
	return err
}
