package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sandboxrun/schemas/closed"
)

// The program accepts the JSON in the documents, field by field.
func TestSamplesInDocumentsAreValid(t *testing.T) {
	t.Parallel()
	text := documents(t)
	seen := map[string]int{}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(text, -1) {
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(block[1], &doc); err != nil {
			t.Errorf("%v in %.80s", err, block[1])
			continue
		}
		kind := kindOf(doc)
		seen[kind]++
		if kind == "approvals" { // a part of a task
			kind = "task"
			maps.Copy(doc, map[string]json.RawMessage{
				"objective": json.RawMessage(`"x"`), "instructions": json.RawMessage(`"x"`), "context": json.RawMessage(`{"repo_root":"/x"}`),
			})
		}
		if kind != "task" && kind != "config" && kind != "error" {
			continue // a part of a result, and profiles, which have no schema
		}
		whole, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := closed.Validate(kind, whole); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if want := map[string]int{"task": 1, "config": 1, "profiles": 1, "approvals": 1, "result": 1, "error": 1}; !maps.Equal(seen, want) {
		t.Errorf("samples %v, want %v", seen, want)
	}
}

// documents returns the README and everything under docs/ in one text.
func documents(t *testing.T) []byte {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	var all []byte
	for _, name := range append([]string{"../../README.md"}, files...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, text...), '\n')
	}
	return all
}

// Every link to a file of this project has a target.
func TestLinksInDocumentsHaveTargets(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	roots, err := filepath.Glob("../../*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, name := range append(files, roots...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).FindAllSubmatch(text, -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), string(m[1]))); err != nil {
				t.Errorf("%s: %v", filepath.Base(name), err)
			}
		}
	}
	if links < 5 {
		t.Errorf("%d links were found, too few to be all", links)
	}
}

func kindOf(doc map[string]json.RawMessage) string {
	for field, kind := range map[string]string{"objective": "task", "default_agent": "config", "executors": "profiles", "status": "result", "approvals": "approvals", "error": "error"} {
		if _, ok := doc[field]; ok {
			return kind
		}
	}
	return "unknown"
}
