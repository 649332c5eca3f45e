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
// was validated; known maps folded field names of the schema to their spelling.
func schemaProblems(e *jsonschema.ValidationError, tree any, known map[string]string, p *Problems) (cut []string) {
	for _, c := range e.Causes {
		cut = append(cut, schemaProblems(c, tree, known, p)...)
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
		for _, name := range k.Missing {
			p.Add(string(at.AppendToken(name)), "is required")
		}
		return nil // nothing is there to be cut
	case *kind.AdditionalProperties:
		object := tree
		for _, tok := range e.InstanceLocation {
			object = child(object, tok)
		}
		for _, name := range k.Properties {
			sub := string(at.AppendToken(name))
			cut = append(cut, sub)
			p.Add(sub, "%s", unknownField(name, object, known))
		}
		return cut
	}
	p.Add(string(at), "%s", schemaReason(e.ErrorKind))
	return append(cut, string(at))
}

// unknownField says what is wrong with a field that its object may not have.
func unknownField(name string, object any, known map[string]string) string {
	if right, ok := known[foldKey(name)]; ok && right != name {
		return fmt.Sprintf("unknown field; keys are case-sensitive, is %q meant?", right)
	}
	for _, k := range check.Kinds() {
		if child(object, "kind") == k.Name {
			return k.NoParam(name)
		}
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
		if k.Want == `\S` {
			return "must not be blank"
		}
		return "must match " + k.Want
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
