package main

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"testing"

	"sandboxrun/runner"
)

// What the readme shows as JSON is what the program takes, field by field.
func TestTheReadmeShowsWhatTheProgramTakes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
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
		if kind != "task" && kind != "config" {
			continue // a part of a result, and profiles, which have no schema
		}
		whole, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := runner.ValidateDocument(kind, whole); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if want := map[string]int{"task": 1, "config": 1, "profiles": 1, "approvals": 1, "result": 1}; !maps.Equal(seen, want) {
		t.Errorf("samples %v, want %v", seen, want)
	}
}

func kindOf(doc map[string]json.RawMessage) string {
	for field, kind := range map[string]string{"objective": "task", "default_agent": "config", "executors": "profiles", "status": "result", "approvals": "approvals"} {
		if _, ok := doc[field]; ok {
			return kind
		}
	}
	return "unknown"
}
