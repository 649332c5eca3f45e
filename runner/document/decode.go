package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxDocument bounds a task or configuration, in bytes.
const MaxDocument = 1 << 20

// Decode reads one task. It refuses what could be read in two ways (repeated or
// differently-cased keys, a second document, NUL, invalid UTF-8), what the
// schema does not know, and what cannot work whatever the machine. Errors are
// *InputError and list every problem at once. It looks at nothing but data.
func Decode(data []byte) (*Task, error) { return DecodeFrom(data, "", "") }

// DecodeFrom is Decode for a task whose repo_root may be relative to the
// absolute directory dir; "" where it may not. repo, an absolute path, takes the
// place of a repo_root when it is not "", also of one that is missing.
func DecodeFrom(data []byte, dir, repo string) (*Task, error) {
	var t Task
	var p Problems
	if repo != "" {
		data = withRepo(data, repo)
	}
	if DecodeInto("task", data, []string{"/box/env"}, &t, &p) {
		p.NextStage()
		t.Context.RepoRoot = rooted(t.Context.RepoRoot, dir)
		t.validate(&p)
	}
	if err := p.Err("the task is not valid", `"sandboxrun schema task" prints what a task may hold`); err != nil {
		return nil, err
	}
	return &t, nil
}

// rooted makes a relative repo_root absolute. ~ is left for the validation to refuse.
func rooted(root, dir string) string {
	if dir == "" || root == "" || filepath.IsAbs(root) || strings.HasPrefix(root, "~") {
		return root
	}
	return filepath.Join(dir, root)
}

// withRepo is the task with another repo_root. What is no object, or reads in
// two ways, stays as it is, for the decoder to refuse.
func withRepo(data []byte, repo string) []byte {
	var p Problems
	var task, context map[string]json.RawMessage
	if len(data) > MaxDocument {
		return data
	}
	if _, ok := StrictJSON(data, []string{"/box/env"}, &p); !ok || !p.Empty() || json.Unmarshal(data, &task) != nil || task == nil {
		return data
	}
	if raw, given := task["context"]; given && json.Unmarshal(raw, &context) != nil || context == nil && given {
		return data
	}
	if context == nil {
		context = map[string]json.RawMessage{}
	}
	var errs [3]error
	var whole []byte
	context["repo_root"], errs[0] = json.Marshal(repo)
	task["context"], errs[1] = json.Marshal(context)
	whole, errs[2] = json.Marshal(task)
	if errors.Join(errs[:]...) != nil {
		return data
	}
	return whole
}

// DecodeInto reads data into a struct in three stages: strict syntax, the
// schema called name, types. What one stage complains about is cut out for the
// next, so that a typo in one field does not hide what is wrong with another.
// It is false when too little is left to look at.
func DecodeInto(name string, data []byte, free []string, into any, p *Problems) bool {
	if len(data) > MaxDocument {
		p.Add("", "the document has more than %d bytes", MaxDocument)
		return false
	}
	cut, ok := StrictJSON(data, free, p)
	if !ok {
		return false
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		p.Add("", "%v", err)
		return false
	}
	tree = prune(tree, cut)
	p.NextStage()
	tree = prune(tree, validateTree(name, tree, p))
	if _, ok := tree.(map[string]any); !ok {
		return false
	}
	p.NextStage()
	return decodeTree(tree, into, p)
}

// decodeTree gives the tree its types. The schema has left little to refuse.
func decodeTree(tree, into any, p *Problems) bool {
	clean, err := json.Marshal(tree) // keeps json.Number as it was written
	if err != nil {
		p.Add("", "%v", err)
		return false
	}
	err = jsonv2.Unmarshal(clean, into)
	var bad *jsonv2.SemanticError
	switch {
	case err == nil:
		return true
	case errors.As(err, &bad):
		p.Add(string(bad.JSONPointer), "%s", semanticReason(bad))
	default:
		p.Add("", "%v", err)
	}
	return false
}

func semanticReason(e *jsonv2.SemanticError) string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("cannot be a %s here", e.JSONKind)
}

// prune takes the values at the pointers out of a tree of maps and slices.
// Members vanish; elements become null, which keeps the indices of the others.
func prune(tree any, pointers []string) any {
	for _, at := range pointers {
		tokens := slices.Collect(jsontext.Pointer(at).Tokens())
		if len(tokens) == 0 {
			return nil
		}
		node := tree
		for _, tok := range tokens[:len(tokens)-1] {
			node = child(node, tok)
		}
		last := tokens[len(tokens)-1]
		switch n := node.(type) {
		case map[string]any:
			delete(n, last)
		case []any:
			if i, err := strconv.Atoi(last); err == nil && i < len(n) {
				n[i] = nil
			}
		}
	}
	return tree
}

// child is nil where there is none: a parent may have been cut before.
func child(node any, token string) any {
	switch n := node.(type) {
	case map[string]any:
		return n[token]
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i < len(n) {
			return n[i]
		}
	}
	return nil
}
