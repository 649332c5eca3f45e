package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
)

// Param is one parameter of a kind.
type Param struct {
	Name     string
	Help     string // one line
	Type     ParamType
	Required bool
	Min, Max int64    // of the integer, or of the number of globs or names
	Of       []string // the words of a choice
}

// ParamType is what a parameter holds.
type ParamType string

// Types of parameters. One more is a case of [Param.decode], an accessor of [values] and a form in schema_test.go.
const (
	Integer ParamType = "integer"
	Globs   ParamType = "globs" // list of patterns that name paths, see [ValidGlob]
	Names   ParamType = "names" // list of strings that are not empty
	Boolean ParamType = "boolean"
	Choice  ParamType = "choice" // one of a few words
)

// MaxGlob bounds one glob, in characters.
const MaxGlob = 1000

// kindMember is the member of a constraint that names its kind.
const kindMember = "kind"

// Problem is one thing wrong with the parameters of a check.
type Problem struct {
	Path    string // JSON pointer into the constraint
	Message string
}

// ParamError says that a constraint's parameters cannot be used. It lists
// every problem.
type ParamError []Problem

func (e *ParamError) Error() string {
	parts := make([]string, len(*e))
	for i, p := range *e {
		parts[i] = p.Path + ": " + p.Message
	}
	return strings.Join(parts, "; ")
}

func (e *ParamError) add(path, format string, args ...any) {
	*e = append(*e, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// values are the decoded parameters of one constraint, by name.
type values map[string]any

// integer is 0 where an optional parameter is missing.
func (v values) integer(name string) int64 {
	n, _ := v[name].(int64)
	return n
}

// globs is empty where an optional parameter is missing.
func (v values) globs(name string) globs {
	g, _ := v[name].(globs)
	return g
}

// names is empty where an optional parameter is missing.
func (v values) names(name string) []string {
	n, _ := v[name].([]string)
	return n
}

// boolean is unset where an optional parameter is missing.
func (v values) boolean(name string, unset bool) bool {
	if b, ok := v[name].(bool); ok {
		return b
	}
	return unset
}

// choice is unset where an optional parameter is missing.
func (v values) choice(name, unset string) string {
	if s, ok := v[name].(string); ok {
		return s
	}
	return unset
}

// decode reads the whole object of a constraint. It accepts what the schema of tasks does, which is made from the same
// declarations, and of that only valid globs.
func (k Kind) decode(object json.RawMessage) (values, error) {
	var members map[string]json.RawMessage
	if err := jsonv2.Unmarshal(object, &members); err != nil {
		return nil, &ParamError{{Message: clip(err.Error())}}
	}
	delete(members, kindMember)
	var bad ParamError
	v := values{}
	for _, p := range k.Params {
		raw, there := members[p.Name]
		delete(members, p.Name)
		switch {
		case there:
			v[p.Name] = p.decode(raw, &bad)
		case p.Required:
			bad.add("/"+p.Name, "is required")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		bad.add("/"+pointerToken.Replace(name), "%s", k.NoParam(name))
	}
	if bad != nil {
		return nil, &bad
	}
	return v, nil
}

// pointerToken escapes a name for a JSON pointer (RFC 6901).
var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")

// NoParam says that the kind has no such parameter.
func (k Kind) NoParam(name string) string {
	var has []string
	for _, p := range k.Params {
		has = append(has, p.Name)
	}
	if has == nil {
		return fmt.Sprintf("%s has no parameter %q, and no other", k.Name, clip(name))
	}
	return fmt.Sprintf("%s has no parameter %q (it has: %s)", k.Name, clip(name), strings.Join(has, ", "))
}

func (p Param) decode(raw json.RawMessage, bad *ParamError) any {
	switch p.Type {
	case Integer:
		return p.decodeInteger(raw, bad)
	case Boolean:
		if text := string(raw); text != "true" && text != "false" {
			bad.add("/"+p.Name, "must be true or false")
		}
		return string(raw) == "true"
	case Choice:
		var word string
		if raw[0] != '"' || jsonv2.Unmarshal(raw, &word) != nil || !slices.Contains(p.Of, word) {
			bad.add("/"+p.Name, "must be one of: %s", strings.Join(p.Of, ", "))
		}
		return word
	case Names:
		return p.decodeNames(raw, bad)
	case Globs:
	}
	return p.decodeGlobs(raw, bad)
}

func (p Param) decodeNames(raw json.RawMessage, bad *ParamError) []string {
	var items []json.RawMessage
	if err := jsonv2.Unmarshal(raw, &items); err != nil || items == nil {
		bad.add("/"+p.Name, "must be a list of names")
		return nil
	}
	if n := int64(len(items)); n < p.Min || n > p.Max {
		bad.add("/"+p.Name, "has %d names, must have %d to %d", n, p.Min, p.Max)
	}
	list := make([]string, len(items))
	for i, item := range items {
		at := fmt.Sprintf("/%s/%d", p.Name, i)
		switch {
		case item[0] != '"':
			bad.add(at, "must be a string")
		case jsonv2.Unmarshal(item, &list[i]) != nil || list[i] == "":
			bad.add(at, "must not be empty")
		case utf8.RuneCountInString(list[i]) > MaxGlob:
			bad.add(at, "has more than %d characters", MaxGlob)
		}
	}
	return list
}

// decodeInteger reads a number without a fraction; 3.0 is one.
func (p Param) decodeInteger(raw json.RawMessage, bad *ParamError) int64 {
	whole, fraction, _ := strings.Cut(string(raw), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err == nil && strings.Trim(fraction, "0") != "" || err != nil && !errors.Is(err, strconv.ErrRange) {
		bad.add("/"+p.Name, "must be an integer")
	} else if err != nil || n < p.Min || n > p.Max {
		bad.add("/"+p.Name, "must be from %d to %d", p.Min, p.Max)
	}
	return n
}

func (p Param) decodeGlobs(raw json.RawMessage, bad *ParamError) globs {
	var items []json.RawMessage
	if err := jsonv2.Unmarshal(raw, &items); err != nil || items == nil {
		bad.add("/"+p.Name, "must be a list of globs")
		return nil
	}
	if n := int64(len(items)); n < p.Min || n > p.Max {
		bad.add("/"+p.Name, "has %d globs, must have %d to %d", n, p.Min, p.Max)
	}
	list := make(globs, len(items))
	for i, item := range items {
		at := fmt.Sprintf("/%s/%d", p.Name, i)
		if item[0] != '"' {
			bad.add(at, "must be a string")
			continue
		}
		if err := jsonv2.Unmarshal(item, &list[i]); err != nil {
			bad.add(at, "%s", clip(err.Error()))
			continue
		}
		why := ValidGlob(list[i])
		if utf8.RuneCountInString(list[i]) > MaxGlob {
			why = fmt.Sprintf("has more than %d characters", MaxGlob)
		}
		if why != "" {
			bad.add(at, "%s", why)
		}
	}
	return list
}
