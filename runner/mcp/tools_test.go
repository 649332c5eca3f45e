package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/schemas/closed"
)

// A client gets no more than the person at the machine has decided.
func TestTasksOfClientsGetNoMoreThanTheConfigurationGives(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Box.Network.Allow = []string{"packages.example.org"}
	s := New(Options{Config: cfg, Hosts: []string{"mirror.example.org:8443"}})
	for more, want := range map[string]string{
		`"notes_for_human": "x"`:                                        "",
		`"max_runtime_seconds": 3600`:                                   "",
		`"max_runtime_seconds": 3601`:                                   "/max_runtime_seconds",
		`"approvals": {"policy": "ask"}`:                                "",
		`"approvals": {"policy": "deny", "deny": [{"tool": "Bash"}]}`:   "",
		`"approvals": {"policy": "auto"}`:                               "/approvals/policy",
		`"approvals": {"allow": [{"tool": "Bash"}]}`:                    "/approvals/allow",
		`"box": {"memory": "1g", "cpus": 1, "pids": 100, "disk": "1g"}`: "",
		`"box": {"memory": "64g"}`:                                      "/box/memory",
		`"box": {"cpus": 2.5}`:                                          "/box/cpus",
		`"box": {"pids": 100000}`:                                       "/box/pids",
		`"box": {"disk": "1024g"}`:                                      "/box/disk",
		`"box": {"runtime": "runc"}`:                                    "/box/runtime",
		`"box": {"require_tier": "runsc"}`:                              "",
		`"box": {"network": {"allow": ["packages.example.org"]}}`:       "",
		`"box": {"network": {"allow": ["Mirror.Example.org:8443"]}}`:    "",
		`"box": {"network": {"allow": ["evil.example.org"]}}`:           "/box/network/allow/0",
		`"box": {"network": {"allow": ["mirror.example.org"]}}`:         "/box/network/allow/0",
		`"box": {"network": {"verify_allow": ["evil.example.org"]}}`:    "/box/network/verify_allow/0",
		`"box": {"network": {"verify_allow": []}}`:                      "",
	} {
		task := `{"objective": "o", "instructions": "i", "context": {"repo_root": "/r"}, ` + more + `}`
		err := s.permitted([]byte(task))
		input, _ := errors.AsType[*document.InputError](err)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", more, err)
		case want != "" && (input == nil || len(input.Details) != 1 || input.Details[0].Path != want):
			t.Errorf("%s: %v, want a problem at %s", more, err, want)
		}
	}
}

// Clients check results by the schemas of the tools.
func TestSchemasOfToolsAreValidAndTakeRealDocuments(t *testing.T) {
	t.Parallel()
	compiled := map[string][2]*jsonschema.Schema{}
	for _, tool := range New(Options{}).tools() {
		var pair [2]*jsonschema.Schema
		for i, schema := range []object{tool.in, tool.out} {
			if schema["type"] != "object" || slices.ContainsFunc([]string{"oneOf", "allOf"}, func(k string) bool { return schema[k] != nil }) {
				t.Errorf("%s: clients want an object at the root", tool.name)
			}
			text, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 && (bytes.Contains(text, []byte(`"$id"`)) || len(text) > 32<<10) {
				t.Errorf("%s: the input schema has an $id or %d bytes, which every request of a model carries", tool.name, len(text))
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			c := jsonschema.NewCompiler()
			c.DefaultDraft(jsonschema.Draft2020)
			if err := c.AddResource("mem:tool", doc); err != nil {
				t.Fatal(err)
			}
			if pair[i], err = c.Compile("mem:tool"); err != nil {
				t.Errorf("%s: %v", tool.name, err)
			}
		}
		compiled[tool.name] = pair
	}
	task := `{"wait_seconds": 5, "task": {"objective": "o", "instructions": "i", "context": {"repo_root": "/r"}, "constraints": ["c", {"kind": "max_files_changed", "max": 3}],
		"mcp_servers": {"a": {"command": "x"}}, "box": {"memory": "1g"}}}`
	for text, schema := range map[string]*jsonschema.Schema{
		task: compiled["execute_task"][0], string(realResult(t)): compiled["wait_run"][1],
		`{"run_id": "x", "state": "running", "next": "wait_run"}`:     compiled["follow_up"][1],
		`{"run_id": "x", "diff": "", "bytes": 0, "truncated": false}`: compiled["get_diff"][1],
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// realResult is one that a run wrote.
func realResult(t *testing.T) []byte {
	t.Helper()
	files, err := filepath.Glob("../../schemas/testdata/compat/1.0/command/result.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no results: %v", err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// However much a run changed and printed, its result fits into a conversation and is still one.
func TestALongResultIsShortenedAndStaysAResult(t *testing.T) {
	t.Parallel()
	var whole map[string]any
	if err := json.Unmarshal(realResult(t), &whole); err != nil {
		t.Fatal(err)
	}
	files := []any{}
	for i := range 5000 {
		files = append(files, map[string]any{"path": fmt.Sprintf("f%d/%s", i, strings.Repeat("é", 200)), "change_type": "added", "highlights": []any{strings.Repeat("h", 500)}, "additions": 1, "deletions": 0})
	}
	commands := []any{}
	for range 300 {
		commands = append(commands, map[string]any{"command": strings.Repeat("c", 9000), "exit_code": 1, "stdout_excerpt": strings.Repeat("\x1b[31m", 3000), "stderr_excerpt": "",
			"source": "runner", "phase": "verify", "duration_ms": 1, "timed_out": false, "truncated": false})
	}
	whole["files_changed"], whole["commands_run"] = files, commands
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	a, err := resultAnswer(text)
	if err != nil {
		t.Fatal(err)
	}
	short, err := json.Marshal(a.value)
	if err != nil || len(short) > maxResult || a.note == "" {
		t.Errorf("%d bytes, note %q: %v", len(short), a.note, err)
	}
	if err := closed.Validate("result", short); err != nil {
		t.Error(err)
	}
	var got struct {
		Files   []any `json:"files_changed"`
		Omitted int   `json:"files_changed_omitted"`
	}
	if err := json.Unmarshal(short, &got); err != nil || len(got.Files)+got.Omitted != len(files) {
		t.Errorf("%d files and %d more, of %d: %v", len(got.Files), got.Omitted, len(files), err)
	}
}

func TestADiffIsCutAtALineAndSearchedByPath(t *testing.T) {
	t.Parallel()
	first := "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+diff --git a/b.txt b/b.txt\n"
	patch := first + "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n" +
		"diff --git \"a/t\\303\\244b\\t\" \"b/t\\303\\244b\\t\"\n--- x\n" + "diff --git a/b.txt b/b.txt\n+" + strings.Repeat("y", 200_000) + "\n"
	for _, c := range []struct {
		path  string
		limit int
		want  string
		more  bool
	}{
		{"a.txt", 1 << 20, first, false},
		{"old", 1 << 20, "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n", false},
		{"new", 1 << 20, "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n", false},
		{"täb\t", 1 << 20, "diff --git \"a/t\\303\\244b\\t\" \"b/t\\303\\244b\\t\"\n--- x\n", false},
		{"none", 1 << 20, "", false},
		{"", 30, "diff --git a/a.txt b/a.txt\n", true},
		{"", 1 << 20, patch, false},
	} {
		got, more, err := part(t.Context(), strings.NewReader(patch), c.path, c.limit)
		if err != nil || got != c.want || more != c.more {
			t.Errorf("%q, %d: %.80q, %v, %v", c.path, c.limit, got, more, err)
		}
	}
	if got, more, err := part(t.Context(), strings.NewReader(patch), "b.txt", 1000); err != nil || !more || len(got) > 1000 {
		t.Errorf("%d bytes, %v, %v", len(got), more, err)
	}
}
