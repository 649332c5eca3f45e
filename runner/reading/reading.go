// Package reading turns sentences of a task, Chinese or English, into checks and commands before anything runs. It is pure: a
// sentence is matched as a whole against a table of patterns, and whatever the patterns do not cover is reported, never guessed.
package reading

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Reading is what became of one sentence.
type Reading struct {
	Pointer string `json:"pointer"` // JSON pointer of the sentence in the task
	Text    string `json:"text"`    // the sentence as the task has it
	// Checks are all demanded; the worst verdict counts. Empty for a sentence that was not read.
	Checks []Check `json:"checks"`
	Rest   string  `json:"rest"`             // the words that no pattern covers; "" where every word is accounted for
	Reason string  `json:"reason,omitempty"` // why the sentence was not read, or not as a whole
}

// Check is one demand of a sentence: a kind of runner/check with parameters, or a command with the exit code it must have.
type Check struct {
	Kind       string          `json:"kind,omitempty"`
	Params     json.RawMessage `json:"params,omitempty"` // object of the parameters, without the kind
	Command    string          `json:"command,omitempty"`
	ExpectExit *int            `json:"expect_exit,omitempty"` // missing without a command
	Words      string          `json:"words"`                 // the words of the sentence that it rests on
	// Unmeasured says why this version of the program cannot measure the demand; "" where it can.
	Unmeasured string `json:"unmeasured,omitempty"`
}

// Whole says that every word of the sentence became a check that this version measures.
func (r Reading) Whole() bool {
	return len(r.Checks) > 0 && r.Rest == "" && !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Unmeasured != "" })
}

// Why says in words what of a sentence is not measured, "" for a whole reading.
func (r Reading) Why() string {
	var parts []string
	switch {
	case len(r.Checks) == 0:
		parts = append(parts, "no pattern reads it as a check")
	case r.Rest != "":
		parts = append(parts, fmt.Sprintf("no pattern covers the words %q", clip(r.Rest)))
	}
	if r.Reason != "" {
		parts = append(parts, r.Reason)
	}
	for _, c := range r.Checks {
		if c.Unmeasured != "" {
			parts = append(parts, c.Unmeasured)
		}
	}
	return strings.Join(parts, "; ")
}

// Object is the check as a task would name it in an object: a constraint with a kind, or a criterion with a command.
func (c Check) Object() json.RawMessage {
	if c.Command != "" {
		return marshal(map[string]any{"command": c.Command, "expect_exit": c.Exit()})
	}
	members := map[string]any{}
	if len(c.Params) > 0 {
		_ = json.Unmarshal(c.Params, &members) // made by marshal
	}
	members["kind"] = c.Kind
	return marshal(members)
}

// Exit is the exit code that a command must have.
func (c Check) Exit() int {
	if c.ExpectExit == nil {
		return 0
	}
	return *c.ExpectExit
}

// marshal encodes what always can be encoded: strings, integers, booleans and lists of strings.
func marshal(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("reading: encode %T: %v", v, err))
	}
	return data
}

// Bounds of one sentence. What is longer is not read.
const (
	maxSentence = 8000 // characters, as in the schema of tasks
	maxClause   = 400  // characters of the words that one pattern may cover
	maxClauses  = 40   // clauses of one sentence
	maxAtoms    = 200  // quoted pieces and paths of one sentence
)

// Read reads one sentence. It never fails: what it cannot read is the rest.
func (p *Patterns) Read(pointer, text string) Reading {
	r := Reading{Pointer: pointer, Text: text, Checks: []Check{}}
	t, why := normalize(text)
	if why != "" {
		return r.unread(why)
	}
	checks, rest, why := p.readText(t)
	if why != "" {
		return r.unread(why)
	}
	for _, c := range checks {
		c.Unmeasured = unmeasured(c)
		if !slices.ContainsFunc(r.Checks, func(have Check) bool { return have.same(c) }) {
			r.Checks = append(r.Checks, c)
		}
	}
	if len(r.Checks) == 0 {
		return r.unread("")
	}
	r.Rest = strings.Join(rest, " … ")
	return r
}

func (r Reading) unread(why string) Reading {
	r.Checks, r.Rest, r.Reason = []Check{}, r.Text, why
	return r
}

// Unread is the reading of a sentence whose demand cannot be kept for a reason that lies outside of it.
func (r Reading) Unread(why string) Reading { return r.unread(why) }

// same says that two checks demand the same, whatever words they rest on.
func (c Check) same(o Check) bool {
	return c.Kind == o.Kind && c.Command == o.Command && c.Exit() == o.Exit() && string(c.Params) == string(o.Params)
}

// clip bounds a text that a message repeats.
func clip(s string) string {
	const most = 200
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
