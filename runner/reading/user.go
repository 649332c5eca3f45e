package reading

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/runner/check"
)

// UserPattern is one entry of readings in the user's configuration.
type UserPattern struct {
	// Pattern is RE2 and must match all words of a clause, letter case aside. Its named groups become parameters of the kind; the groups
	// command and expect_exit those of a command.
	Pattern  string                     `json:"pattern"`
	Kind     string                     `json:"kind"`             // a kind of check, or "command"
	Params   map[string]json.RawMessage `json:"params,omitempty"` // parameters that do not come from the words
	Examples []string                   `json:"examples,omitempty"`
}

// maxPattern bounds a pattern of the user, in bytes.
const maxPattern = 2000

// Problem says why a pattern cannot be used, at a JSON pointer into it; "" when it can.
func (u UserPattern) Problem() (at, why string) {
	if len(u.Pattern) > maxPattern {
		return "/pattern", fmt.Sprintf("has more than %d bytes", maxPattern)
	}
	form, err := u.compile()
	if err != nil {
		return "/pattern", err.Error()
	}
	if form.MatchString("") {
		return "/pattern", "must not match the empty text"
	}
	known, ok := paramsOf(u.Kind)
	if !ok {
		return "/kind", fmt.Sprintf("no check is called %q", clip(u.Kind))
	}
	for _, name := range form.SubexpNames() {
		if name != "" && !slices.Contains(known, name) {
			return "/pattern", fmt.Sprintf("%s has no parameter %q (it has: %s)", u.Kind, name, strings.Join(known, ", "))
		}
	}
	for name := range u.Params {
		if !slices.Contains(known, name) {
			return "/params/" + name, fmt.Sprintf("%s has no parameter %q", u.Kind, clip(name))
		}
	}
	for i, s := range u.Examples {
		if r := With([]UserPattern{u}).Read("", s); !r.Whole() {
			return fmt.Sprintf("/examples/%d", i), "the pattern does not read it: " + r.Why()
		}
	}
	return "", ""
}

// paramsOf are the names of the parameters of a kind.
func paramsOf(kind string) (names []string, ok bool) {
	if kind == commandKind {
		return []string{"command", "expect_exit"}, true
	}
	for _, k := range check.Kinds() {
		if k.Name == kind {
			for _, p := range k.Params {
				names = append(names, p.Name)
			}
			return names, true
		}
	}
	return nil, false
}

func (u UserPattern) compile() (*regexp.Regexp, error) {
	form, err := regexp.Compile(`(?i)^(?:` + u.Pattern + `)$`)
	if err != nil {
		return nil, fmt.Errorf("is no RE2 expression: %w", err)
	}
	return form, nil
}

// With are the patterns of this program and those of the user, which go first. Patterns with a problem are left out.
func With(user []UserPattern) *Patterns {
	if len(user) == 0 {
		return Default()
	}
	d := Default()
	p := &Patterns{objects: d.objects, frames: d.frames}
	for _, u := range user {
		compiled, err := u.compile()
		if err != nil {
			continue
		}
		row := Pattern{Kind: u.Kind, Params: map[string]any{}, user: true, compiled: []*form{{regexp: func() *regexp.Regexp { return compiled }}}}
		for name, v := range u.Params {
			row.Params[name] = v
		}
		p.clauses = append(p.clauses, row)
	}
	p.clauses = append(p.clauses, d.clauses...)
	return p
}

// readUser makes a check of the words that a pattern of the user matches.
func (row *Pattern) readUser(form *regexp.Regexp, s, words string) []Check {
	m := form.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	members := map[string]any{}
	maps.Copy(members, row.Params)
	for i, name := range form.SubexpNames() {
		if name == "" || m[i] == "" {
			continue
		}
		v, ok := userParam(row.Kind, name, m[i])
		if !ok {
			return nil
		}
		members[name] = v
	}
	if row.Kind != commandKind {
		return []Check{{Kind: row.Kind, Params: marshal(members), Words: words}}
	}
	var c struct {
		Command string `json:"command"`
		Exit    int    `json:"expect_exit"`
	}
	if json.Unmarshal(marshal(members), &c) != nil || strings.TrimSpace(c.Command) == "" || c.Exit < 0 || c.Exit > 255 {
		return nil
	}
	return []Check{{Command: c.Command, ExpectExit: &c.Exit, Words: words}}
}

// userParam makes a parameter of the words that a group matched, of the type that the kind declares.
func userParam(kind, name, words string) (v any, ok bool) {
	if kind == commandKind {
		if name == "expect_exit" {
			return number(words)
		}
		return words, true
	}
	for _, k := range check.Kinds() {
		for _, p := range k.Params {
			if k.Name != kind || p.Name != name {
				continue
			}
			switch p.Type {
			case check.Integer:
				return number(words)
			case check.Boolean:
				return strings.EqualFold(words, "true"), strings.EqualFold(words, "true") || strings.EqualFold(words, "false")
			case check.Choice:
				return strings.ToLower(words), true
			case check.Globs, check.Names:
				return strings.FieldsFunc(words, func(r rune) bool { return r == ',' || r == ' ' || r == '、' }), true
			}
		}
	}
	return words, true
}
