package schemas_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/schemas"
)

func TestEveryFileHasANameAndEveryNameAFile(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(os.DirFS("."), "*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(schemas.Names()) {
		t.Errorf("%d files, %d names", len(files), len(schemas.Names()))
	}
	for _, name := range schemas.Names() {
		got, err := schemas.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Clean(name + ".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: embedded schema differs from its file", name)
		}
	}
}

func TestUnknownNameListsKnownOnes(t *testing.T) {
	t.Parallel()
	_, err := schemas.ByName("tusk")
	if err == nil || !strings.Contains(err.Error(), "task, config, plan, event, result, error") {
		t.Errorf("error = %v", err)
	}
}

// Every field must have a description. Documents of callers are closed, so that a misspelt field is an error;
// documents of the program are open, so that a later version's additions break no caller who validates.
func TestSchemasAreDescribedAndClosedForInputOnly(t *testing.T) {
	t.Parallel()
	for _, name := range schemas.Names() {
		raw, err := schemas.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if doc["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s: $schema = %v", name, doc["$schema"])
		}
		walk(t, name, doc, name == "task" || name == "config")
	}
}

func walk(t *testing.T, at string, node any, closed bool) {
	t.Helper()
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			walk(t, at+"/*", v, closed)
		}
	case map[string]any:
		if closed && n["type"] == "object" && n["properties"] != nil && n["additionalProperties"] != false {
			t.Errorf("%s: object allows unknown fields", at)
		}
		if !closed && (n["additionalProperties"] == false || n["unevaluatedProperties"] != nil) {
			t.Errorf("%s: object forbids fields that a later version may add", at)
		}
		for field, sub := range asMap(n["properties"]) {
			if strings.Contains(at, "/if") {
				continue
			}
			s := asMap(sub)
			if s["description"] == nil && !strings.Contains(at, "/allOf") {
				t.Errorf("%s: field %q has no description", at, field)
			}
		}
		for k, v := range n {
			walk(t, at+"/"+k, v, closed)
		}
	}
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}
