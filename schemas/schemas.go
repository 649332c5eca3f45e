// Package schemas holds the wire contracts as JSON Schemas (draft 2020-12), embedded in the program.
package schemas

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.schema.json
var files embed.FS

// names lists the documents in the usual order of use.
var names = []string{"task", "config", "plan", "event", "result", "error"}

// Names lists the documents that have a schema.
func Names() []string { return append([]string(nil), names...) }

// ByName returns the schema of one document as JSON text that ends in a
// newline. An unknown name is an error that lists the known ones.
func ByName(name string) ([]byte, error) {
	for _, n := range names {
		if n == name {
			return read(n), nil
		}
	}
	return nil, fmt.Errorf("no schema is called %q (there are: %s)", name, strings.Join(names, ", "))
}

// Config is the schema of the user's configuration file.
func Config() []byte { return read("config") }

// Event is the schema of one line of a run's journal.
func Event() []byte { return read("event") }

// Result is the schema of the document a run ends with.
func Result() []byte { return read("result") }

func read(name string) []byte {
	b, err := files.ReadFile(name + ".schema.json")
	if err != nil {
		panic(err) // embedded at build time: names and files differ
	}
	return b
}
