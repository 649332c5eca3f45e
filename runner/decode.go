package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxDocument bounds a task or configuration, in bytes.
const maxDocument = 1 << 20

// Decode reads one task. It refuses what could be read in two ways (repeated or
// differently-cased keys, a second document, NUL, invalid UTF-8), what the
// schema does not know, and what cannot work whatever the machine. Errors are
// *InputError and list every problem at once. It looks at nothing but data.
func Decode(data []byte) (*Task, error) {
	var t Task
	var p problems
	if decodeDocument("task", data, []string{"/box/env"}, &t, &p) {
		p.nextStage()
		t.validate(&p)
	}
	if err := p.err("the task is not valid", `"sandboxrun schema task" prints what a task may hold`); err != nil {
		return nil, err
	}
	return &t, nil
}

// decodeDocument reads data into a struct in three stages: strict syntax, the
// schema called name, types. What one stage complains about is cut out for the
// next, so that a typo in one field does not hide what is wrong with another.
// It is false when too little is left to look at.
func decodeDocument(name string, data []byte, free []string, into any, p *problems) bool {
	if len(data) > maxDocument {
		p.add("", "the document has more than %d bytes", maxDocument)
		return false
	}
	cut, ok := strictJSON(data, free, p)
	if !ok {
		return false
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		p.add("", "%v", err)
		return false
	}
	tree = prune(tree, cut)
	p.nextStage()
	tree = prune(tree, validateTree(name, tree, p))
	if _, ok := tree.(map[string]any); !ok {
		return false
	}
	p.nextStage()
	return decodeTree(tree, into, p)
}

// decodeTree gives the tree its types. The schema has left little to refuse.
func decodeTree(tree, into any, p *problems) bool {
	clean, err := json.Marshal(tree) // keeps json.Number as it was written
	if err != nil {
		p.add("", "%v", err)
		return false
	}
	err = jsonv2.Unmarshal(clean, into)
	var bad *jsonv2.SemanticError
	switch {
	case err == nil:
		return true
	case errors.As(err, &bad):
		p.add(string(bad.JSONPointer), "%s", semanticReason(bad))
	default:
		p.add("", "%v", err)
	}
	return false
}

func semanticReason(e *jsonv2.SemanticError) string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("cannot be a %s here", e.JSONKind)
}
