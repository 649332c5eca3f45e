package skill

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	_ "sandboxrun/agents/all" // the examples name one
	"sandboxrun/runner/document"
	"sandboxrun/schemas"
)

var update = flag.Bool("update", false, "write the reference pages anew")

// good and bad have one example each of every field of a task.
var examples = map[string][2]string{
	"$schema":             {`"urn:sandboxrun:schema:task"`, `7`},
	"task_id":             {`"parse-empty-input"`, `"../main"`},
	"objective":           {`"parse() returns an empty list for empty input."`, `""`},
	"context":             {`{"repo_root": "/home/me/shop", "files_of_interest": ["src/parse.js"], "base": "main"}`, `{"repo_root": "../shop"}`},
	"instructions":        {`"Return [] in parse() for empty input. Add a test."`, `7`},
	"constraints":         {`["Keep the exported names.", {"kind": "max_files_changed", "max": 3}]`, `[{"kind": "be_careful"}]`},
	"acceptance_criteria": {`[{"command": "npm test", "expect_exit": 0}]`, `[{"cmd": "npm test"}]`},
	"execution_mode":      {`"code"`, `"auto"`},
	"suggested_commands":  {`["npm run lint"]`, `"npm run lint"`},
	"max_runtime_seconds": {`900`, `"15m"`},
	"max_tokens":          {`2000000`, `-1`},
	"max_requests":        {`200`, `-1`},
	"notes_for_human":     {`"Part 2 of 3."`, `7`},
	"agent":               {`{"name": "claude", "variant": "DEFAULT"}`, `{"name": "claude", "temperature": 0}`},
	"approvals":           {`{"policy": "deny"}`, `{"policy": "yes"}`},
	"mcp_servers":         {`{"docs": {"command": "docs-server"}}`, `{"docs": {}}`},
	"setup_commands":      {`["npm ci --ignore-scripts"]`, `"npm ci"`},
	"setup_inputs":        {`["package.json", "package-lock.json"]`, `"package.json"`},
	"protected_paths":     {`["package.json", "test/fixtures/**"]`, `["/etc/passwd"]`},
	"baseline":            {`true`, `"yes"`},
	"box":                 {`{"memory": "1g", "cpus": 1}`, `{"privileged": true}`},
	"land":                {`"branch"`, `"main"`},
	"session_id":          {`"parse-work"`, `"../other"`},
	"retry_process_id":    {`"01arz3ndektsv4rrffq69g5fav"`, `"the last one"`},
	"force_when_dirty":    {`false`, `"no"`},
	"strict":              {`true`, `"yes"`},
}

type schema struct {
	Description string             `json:"description"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
	Enum        []any              `json:"enum"`
	Default     any                `json:"default"`
}

func schemaOf(t *testing.T, name string) *schema {
	t.Helper()
	text, err := schemas.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// rows writes the fields below one place, each with what its schema says.
func rows(b *strings.Builder, s *schema, at string) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field := s.Properties[name]
		more := ""
		if slices.Contains(s.Required, name) {
			more += " Required."
		}
		if len(field.Enum) > 0 {
			more += fmt.Sprintf(" One of %v.", field.Enum)
		}
		if field.Default != nil {
			more += fmt.Sprintf(" Default %v.", field.Default)
		}
		fmt.Fprintf(b, "| `%s%s` | %s%s |\n", at, name, strings.ReplaceAll(field.Description, "|", `\|`), more)
		if field.Properties != nil {
			rows(b, field, at+name+".")
		}
		if field.Items != nil && field.Items.Properties != nil {
			rows(b, field.Items, at+name+"[].")
		}
	}
}

func TestReferenceOfTasksFollowsTheSchema(t *testing.T) {
	t.Parallel()
	task := schemaOf(t, "task")
	var b strings.Builder
	b.WriteString("# Fields of a task\n\nMade from the schema of `sandboxrun schema task`. An unknown field is an error. A call names all errors at once.\n\n| field | meaning |\n|---|---|\n")
	rows(&b, task, "")
	b.WriteString("\n## Examples\n\n| field | accepted | refused |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(task.Properties)) {
		e, ok := examples[name]
		if !ok {
			t.Errorf("%s needs an accepted and a refused example", name)
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | `%s` |\n", name, strings.ReplaceAll(e[0], "|", `\|`), e[1])
	}
	compare(t, "droid-executor/reference/task.md", b.String())
}

// The program accepts and refuses the examples.
func TestExamplesOfTheReferenceAreWhatTheySay(t *testing.T) {
	t.Parallel()
	for name, e := range examples {
		for i, value := range e {
			task := map[string]json.RawMessage{"objective": json.RawMessage(`"o"`), "instructions": json.RawMessage(`"i"`), "context": json.RawMessage(`{"repo_root": "/r"}`)}
			if name == "retry_process_id" || name == "force_when_dirty" {
				task["session_id"] = json.RawMessage(`"s"`)
			}
			task[name] = json.RawMessage(value)
			text, err := json.Marshal(task)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := document.Decode(text); (err == nil) != (i == 0) {
				t.Errorf("%s: %s: %v", name, value, err)
			}
		}
	}
}

func TestReferenceOfResultsFollowsSchemaAndCodes(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Fields of a result\n\nMade from the schema of `sandboxrun schema result`. Everything was measured, unless its description says that it is a claim.\n\n| field | meaning |\n|---|---|\n")
	rows(&b, schemaOf(t, "result"), "")
	b.WriteString("\n## Issue codes\n\nA note changes nothing; a flaw makes a run partial at best; a fruitless issue is a flaw where something changed and fatal\nwhere nothing did; a fatal one makes the run failed.\n\n")
	text, err := os.ReadFile("../docs/issue-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "-->\n")
	table, _, end := strings.Cut(table, "<!-- end")
	if !ok || !end {
		t.Fatal("docs/issue-codes.md has no table")
	}
	b.WriteString(strings.TrimSpace(table) + "\n")
	compare(t, "droid-executor/reference/result.md", b.String())
}

func compare(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != want {
		t.Errorf("%s is not what the schema gives (%v): go test ./skill -run TestReference -update", path, err)
	}
}
