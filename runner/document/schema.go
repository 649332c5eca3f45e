package document

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sandboxrun/schemas"
)

// compiled holds every schema of the program, ready to validate.
var compiled = sync.OnceValue(func() map[string]*jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is ever fetched
	all := map[string]*jsonschema.Schema{}
	for _, name := range schemas.Names() {
		text, err := schemas.ByName(name)
		if err != nil {
			panic(err) // names and files of this very program differ
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			panic(fmt.Sprintf("schema %s: %v", name, err))
		}
		url := "urn:sandboxrun:schema:" + name
		if err := c.AddResource(url, doc); err != nil {
			panic(fmt.Sprintf("schema %s: %v", name, err))
		}
		all[name] = c.MustCompile(url)
	}
	return all
})

// validateTree reports what the schema refuses, and returns the pointers of the
// values it refuses.
func validateTree(name string, tree any, p *Problems) (cut []string) {
	err := compiled()[name].Validate(tree)
	var bad *jsonschema.ValidationError
	if !errors.As(err, &bad) {
		return nil
	}
	return schemaProblems(bad, tree, name, p)
}
