package document_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/schemas/closed"
)

// FuzzDecode holds Decode to its word: it never panics, refuses with details or
// returns a task that compiles to a plan of the schema.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "plan", "testdata", "tasks", "*.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{
		``, `null`, `[]`, `{}`, smallTask, smallTask + `{}`, `{"objective":"a","objective":"b"}`, `{"a":{"A":1,"a":2}}`,
		`{"objective":1e9,"context":[],"box":{"env":{"":""}}}`, `{"constraints":[null,{},{"kind":1},{"kind":"paths_allowed","paths":[null]}]}`,
		`{"acceptance_criteria":[{"command":null},3],"agent":null,"box":null}`, "{\"\\u0000\":\"\xff\"}", `{"~":1,"/":2,"~1":3}`,
	} {
		f.Add([]byte(s))
	}
	config := config.Default()
	f.Fuzz(func(t *testing.T, data []byte) {
		task, err := document.Decode(data)
		if err != nil {
			var bad *document.InputError
			if !errors.As(err, &bad) || len(bad.Details) == 0 || task != nil {
				t.Fatalf("Decode = %v, %v", task, err)
			}
			doc, kind := document.EncodeError(err)
			if kind != document.ErrorInvalidInput {
				t.Fatalf("type %s", kind)
			}
			if err := closed.Validate("error", doc); err != nil {
				t.Fatal(err)
			}
			return
		}
		plan, err := plan.Compile(task, config, plan.Overrides{})
		if err != nil {
			t.Fatalf("a valid task does not compile: %v", err)
		}
		doc, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := closed.Validate("plan", doc); err != nil {
			t.Fatal(err)
		}
	})
}

const smallTask = `{"objective":"o","instructions":"i","context":{"repo_root":"/r"}}`
