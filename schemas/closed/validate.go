// Package closed validates documents of this very version. The schemas of
// the documents that the program writes are open, so that a caller who validates
// is not broken by a later version's additions. Tests want to know of every field
// that is written and not described: they validate against closed variants,
// derived from the schemas here.
package closed

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sandboxrun/schemas"
)

// Validate checks a document against the closed variant of the schema called
// name: no field, issue code, event kind or phase that the schema does not list.
func Validate(name string, doc []byte) error { return validate(closedSchemas(), name, doc) }

// ValidateOpen checks a document against the schema as it is shipped.
func ValidateOpen(name string, doc []byte) error { return validate(openSchemas(), name, doc) }

func validate(all map[string]*jsonschema.Schema, name string, doc []byte) error {
	schema, ok := all[name]
	if !ok {
		_, err := schemas.ByName(name)
		return err
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return fmt.Errorf("validate %s: %w", name, err)
	}
	return schema.Validate(tree)
}

var (
	openSchemas   = sync.OnceValue(func() map[string]*jsonschema.Schema { return compile(func(tree any) any { return tree }) })
	closedSchemas = sync.OnceValue(func() map[string]*jsonschema.Schema { return compile(closeDocument) })
)

// closeDocument closes a schema, unless it is of a document that callers write: those are closed as they are shipped.
func closeDocument(tree any) any {
	if root, ok := tree.(map[string]any); ok && root["additionalProperties"] == false {
		return tree
	}
	return closeTree(tree)
}

// compile panics on a schema that is not one: the schemas are part of the program.
func compile(change func(any) any) map[string]*jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // fetches nothing
	all := map[string]*jsonschema.Schema{}
	for _, name := range schemas.Names() {
		text, err := schemas.ByName(name)
		if err != nil {
			panic(err)
		}
		tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			panic(fmt.Sprintf("schema %s: %v", name, err))
		}
		url := "urn:sandboxrun:test:" + name
		if err := c.AddResource(url, change(tree)); err != nil {
			panic(fmt.Sprintf("schema %s: %v", name, err))
		}
		all[name] = c.MustCompile(url)
	}
	return all
}

// closeTree forbids properties that an object does not list, and reduces an open
// list of values, which is an enum or a pattern, to the enum.
func closeTree(node any) any {
	switch n := node.(type) {
	case []any:
		for i := range n {
			n[i] = closeTree(n[i])
		}
	case map[string]any:
		_, listed := n["properties"]
		_, decided := n["additionalProperties"]
		if isObject(n["type"]) && listed && !decided {
			n["additionalProperties"] = false
		}
		if forms, ok := n["anyOf"].([]any); ok && len(forms) == 2 {
			values, enum := forms[0].(map[string]any)["enum"]
			if _, pattern := forms[1].(map[string]any)["pattern"]; enum && pattern {
				delete(n, "anyOf")
				n["enum"] = values
			}
		}
		for k := range n {
			n[k] = closeTree(n[k])
		}
	}
	return node
}

func isObject(typ any) bool {
	list, _ := typ.([]any)
	return typ == "object" || slices.Contains(list, any("object"))
}
