package document

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"sandboxrun/runner/check"
	"sandboxrun/schemas"
)

// schemaProblems turns the tree of a validation error into problems, one per
// leaf and field, and returns the pointers of the values to blame. tree is what
// was validated against the schema called name.
func schemaProblems(e *jsonschema.ValidationError, tree any, name string, p *Problems) (cut []string) {
	for _, c := range e.Causes {
		cut = append(cut, schemaProblems(c, tree, name, p)...)
	}
	if len(e.Causes) > 0 {
		return cut
	}
	var at jsontext.Pointer
	for _, tok := range e.InstanceLocation {
		at = at.AppendToken(tok)
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, field := range k.Missing {
			p.Add(string(at.AppendToken(field)), "is required")
		}
		return nil // nothing is there to be cut
	case *kind.AdditionalProperties:
		object := tree
		for _, tok := range e.InstanceLocation {
			object = child(object, tok)
		}
		for _, field := range k.Properties {
			sub := string(at.AppendToken(field))
			cut = append(cut, sub)
			p.Add(sub, "%s", unknownField(field, object, name, e.InstanceLocation))
		}
		return cut
	}
	p.Add(string(at), "%s", schemaReason(e.ErrorKind))
	return append(cut, string(at))
}

// unknownField says what is wrong with a field that its object, at location, may
// not have.
func unknownField(field string, object any, schema string, location []string) string {
	if right, ok := knownKeys(schema)[foldKey(field)]; ok && right != field {
		return fmt.Sprintf("unknown field; keys are case-sensitive, is %q meant?", right)
	}
	for _, k := range check.Kinds() {
		if child(object, "kind") == k.Name {
			return k.NoParam(field)
		}
	}
	if meant := meantField(schema, placeOf(schema, location), field); meant != "" {
		return fmt.Sprintf("unknown field; is %s meant?", meant)
	}
	return "unknown field"
}

// schemaReason says what is wrong without repeating the caller's value.
func schemaReason(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("must be %s, not %s", article(k.Want...), article(k.Got))
	case *kind.Enum:
		values := make([]string, len(k.Want))
		for i, v := range k.Want {
			values[i] = fmt.Sprint(v)
		}
		return "must be one of " + strings.Join(values, ", ")
	case *kind.Const:
		return fmt.Sprintf("must be %v", k.Want)
	case *kind.Pattern:
		return formReason(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("has %d characters, at most %d are allowed", k.Got, k.Want)
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString()
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %d items, at most %d are allowed", k.Got, k.Want)
	}
	return k.LocalizedString(message.NewPrinter(language.English))
}

// formWords says in words what the patterns of the schemas ask for.
var formWords = map[string]string{
	`\S`:                                          "must not be blank",
	`^[1-9][0-9]{0,15}[kmgtKMGT]?$`:               `must be bytes, or a number with one of the suffixes k, m, g and t, such as "256m" or "4g"`,
	`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`:          `must be at most 128 letters, digits, ".", "_" and "-", beginning with a letter or a digit`,
	`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`:           `must be at most 64 letters, digits, ".", "_" and "-", beginning with a letter or a digit`,
	`^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$`:        `must be empty, or at most 64 letters, digits, ".", "_" and "-", beginning with a letter or a digit`,
	`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}$`:       `must be the reference or id of an image, such as "node:22" or "sandboxrun/agent"`,
	`^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127}$`:   `must be the name of a model: letters, digits and the characters . _ : / @ [ ] -`,
	`^[a-z0-9][a-z0-9-]{0,31}$`:                   `must be at most 32 lower-case letters, digits and "-"`,
	`^[A-Z][A-Z0-9_]{0,63}$`:                      `must be at most 64 capital letters, digits and "_", such as PLAN`,
	`^[A-Za-z_][A-Za-z0-9_]{0,127}$`:              `must be the name of a variable: letters, digits and "_", not beginning with a digit`,
	`^[0-9A-Za-z]{1,26}$`:                         "must be the id of a run, or the beginning of one",
	`^[^<>\x00-\x1f]+ <[^<> \x00-\x1f]+>$`:        "must be a person as git writes one, such as Ann Other <ann@example.org>",
	`^[0-9a-f]{16}$`:                              "must be 16 hexadecimal digits in lower case",
	`^https?://`:                                  "must begin with http:// or https://",
	`^/`:                                          "must be an absolute path",
	`^.*:[0-9]{1,5}$`:                             `must be an address with a port, such as "127.0.0.1:7311"`,
	`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`:      "must be the name of a host in lower case",
	`^[A-Za-z0-9*][A-Za-z0-9._:/@*\[\]-]{0,127}$`: `must be the name of a model, in which * stands for any text`,
}

// formReason says what a value that does not match a pattern must look like.
func formReason(pattern string) string {
	if words := formWords[pattern]; words != "" {
		return words
	}
	return "must match " + pattern
}

func article(types ...string) string {
	words := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "null":
			words[i] = t
		case "array", "integer", "object":
			words[i] = "an " + t
		default:
			words[i] = "a " + t
		}
	}
	return strings.Join(words, " or ")
}

// knownKeys collects every field name of a schema, by its folded form.
func knownKeys(name string) map[string]string { return schemaKeys()[name] }

var schemaKeys = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, name := range schemas.Names() {
		text, err := schemas.ByName(name)
		if err != nil {
			panic(err)
		}
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			panic(fmt.Sprintf("schema %s: %v", name, err))
		}
		all[name] = map[string]string{}
		collectKeys(doc, all[name])
	}
	return all
})

func collectKeys(node any, into map[string]string) {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			collectKeys(v, into)
		}
	case map[string]any:
		if fields, ok := n["properties"].(map[string]any); ok {
			for f := range fields {
				into[foldKey(f)] = f
			}
		}
		for _, v := range n {
			collectKeys(v, into)
		}
	}
}
