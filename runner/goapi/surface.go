// Package goapi holds what callers of Go packages have of them, as package extract finds it in a tree, and compares it. Nothing here
// reads source.
package goapi

import (
	"encoding/json"
	"fmt"
	"io"
)

// Command is the hidden command of this program that extracts in a box, from the tree there, and prints a [Surface].
const Command = "extract-go-api"

// Surface is what callers have of the packages of a tree, in the default build.
type Surface struct {
	Packages int              `json:"packages"`
	Entries  map[string]Entry `json:"entries"`  // by name: "example.com/m/pkg.Type.Method"
	Excluded []string         `json:"excluded"` // files that the default build leaves out
	Problems []string         `json:"problems"` // why something is not known, such as a file that does not parse
	// Logs are the calls that log, of all packages, programs and internal ones included: how often there is one of that logger, level,
	// template, keys and arguments. Forms are calls, literals and assignments that decide the form of a line. Makers are bodies of methods
	// by which types take part in that.
	Logs   map[string]int    `json:"logs"`
	Forms  map[string]int    `json:"forms"`
	Makers map[string]string `json:"makers"`
}

// Entry is one thing that callers can name.
type Entry struct {
	Kind string `json:"kind"` // one of the kinds below
	Dir  string `json:"dir"`  // of its package, in the tree
	// Text is its whole declaration in one form, with the names of parameters. Shape is the same without those.
	Text  string `json:"text"`
	Shape string `json:"shape"`
	// Params are the names of parameters and results in order, "" for one without a name.
	Params []string `json:"params,omitempty"`
	Tag    string   `json:"tag,omitempty"`    // of a field
	Value  bool     `json:"value,omitempty"`  // a method of values, and so of pointers too
	Closed bool     `json:"closed,omitempty"` // an interface that only its own package can implement
	Equal  bool     `json:"equal,omitempty"`  // values of the type can be compared
}

// Kinds of entries.
const (
	Const    = "const"
	Var      = "var"
	Func     = "func"
	Type     = "type"
	Field    = "field"
	Method   = "method"
	Required = "required method" // of an interface
)

// Bounds of what an extractor says, which ran over source of strangers.
const (
	MaxBytes   = 32 << 20
	maxEntries = 200_000
)

// Read reads what an extractor wrote.
func Read(from io.Reader) (*Surface, error) {
	in := &io.LimitedReader{R: from, N: MaxBytes + 1}
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	var s Surface
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("read what the extractor wrote: %w", err)
	}
	if in.N <= 0 || len(s.Entries)+len(s.Logs)+len(s.Forms)+len(s.Makers) > maxEntries {
		return nil, fmt.Errorf("the extractor wrote more than %d bytes or %d entries", MaxBytes, maxEntries)
	}
	return &s, nil
}
