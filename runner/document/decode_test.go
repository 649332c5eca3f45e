package document

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/runner/check"
)

const smallTask = `{"objective":"o","instructions":"i","context":{"repo_root":"/r"}}`

// inputDetails returns the problems of an error that must be an InputError.
func inputDetails(t *testing.T, err error) []Detail {
	t.Helper()
	var bad *InputError
	if !errors.As(err, &bad) {
		t.Fatalf("error = %v (%T), want an InputError", err, err)
	}
	if bad.Message == "" || len(bad.Details) == 0 {
		t.Fatalf("error without message or details: %+v", bad)
	}
	for _, d := range bad.Details {
		if d.Message == "" {
			t.Errorf("detail without message at %q", d.Path)
		}
	}
	return bad.Details
}

func TestDecodeReadsEveryField(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "plan", "testdata", "tasks", "full.json"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	want := &Task{
		TaskID: "T-1.full_example", Objective: "Add a health endpoint.", Instructions: "Return 200.\nKeep it small.",
		Context: TaskContext{RepoRoot: "/srv/app", FilesOfInterest: []string{"./src/server.js", "docs/"}, Base: "main~1", IncludeDirty: true},
		Constraints: []Constraint{
			{Text: "Do not delete any files, and keep it small."},
			{Text: `{"kind":"paths_allowed","paths":["src/**","test/**"]}`, Kind: "paths_allowed", Params: json.RawMessage(`{"kind":"paths_allowed","paths":["src/**","test/**"]}`)},
			{Text: `{"kind":"max_files_changed","max":5}`, Kind: "max_files_changed", Params: json.RawMessage(`{"kind":"max_files_changed","max":5}`)},
		},
		AcceptanceCriteria: []Criterion{{Text: "It answers fast."}, {Command: "npm test"}, {Command: "npm run lint", ExpectExit: 1}},
		ExecutionMode:      ModeMixed, SuggestedCommands: []string{"npm run build", "npm test", "npm run build"},
		MaxRuntimeSeconds: 1200, NotesForHuman: "ask Ada", Agent: &AgentChoice{Name: "CLAUDE_CODE", Variant: "DEFAULT", Model: "claude-opus-5-5[1m]"},
		SetupCommands: []string{"npm ci"}, ProtectedPaths: []string{".github/**", "LICENSE"}, Baseline: true,
		Box: &BoxRequest{
			Image: "node:22", Runtime: "runsc", Memory: 1 << 30, CPUs: 1.5, PIDs: 256, Disk: 123456789,
			Network: &NetworkRequest{Allow: []string{"registry.example.com", "*.mirror.example:8443"}},
			Env:     map[string]string{"NODE_ENV": "test", "node_env": "other"},
		},
		Land: LandNone,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
}

func TestDecodeTakesABareAgentName(t *testing.T) {
	t.Parallel()
	got, err := Decode([]byte(`{"objective":"o","instructions":"i","context":{"repo_root":"/r"},"agent":"claude"}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&AgentChoice{Name: "claude"}, got.Agent); diff != "" {
		t.Errorf("agent (-want +got):\n%s", diff)
	}
}

func TestDecodeRefusesJSONThatReadsInTwoWays(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, data, path, message string }{
		{"empty", ``, "", "empty"},
		{"white space", " \n", "", "empty"},
		{"null", `null`, "", "must be an object, not null"},
		{"array", `[]`, "", "must be an object"},
		{"text", `hello`, "", "line 1, column 1"},
		{"cut off", `{"objective":"o"`, "", "unexpected EOF"},
		{"trailing comma", `{"objective":"o",}`, "", "a comma stands before"},
		{"comment", `{/*x*/}`, "", "line 1, column 2: JSON has no comments"},
		{"comment of a line", "{ // x\n}", "", "JSON has no comments"},
		{"comment of a shell", "# x\n{}", "", "JSON has no comments"},
		{"comma in a list", `{"a":[1, ]}`, "/a", "a comma stands before"},
		{"single quotes", `{'a':1}`, "", "double quotes"},
		{"typographic quotes", `{“a”:1}`, "", "straight double quotes"},
		{"name without quotes", `{a:1}`, "", `as in "a"`},
		{"value of Python", `{"a":True}`, "/a", "True is no JSON"},
		{"line break in a string", "{\"a\":\"x\ny\"}", "/a", "a string ends on the line"},
		{"YAML", "objective: x\ncontext:\n  repo_root: /r\n", "", "looks like YAML"},
		{"YAML document", "---\nobjective: x\n", "", "looks like YAML"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "", "UTF-16"},
		{"missing comma", `{"a":1 "b":2}`, "", "expecting ',' or '}'"},
		{"byte order mark", "\xef\xbb\xbf" + smallTask, "", "byte order mark"},
		{"trailing document", smallTask + ` {}`, "", "exactly one document"},
		{"trailing garbage", smallTask + `x`, "", "exactly one document"},
		{"duplicate key", `{"objective":"a","objective":"b","instructions":"i","context":{"repo_root":"/r"}}`, "/objective", "more than once"},
		{"duplicate key inside", `{"objective":"a","instructions":"i","context":{"repo_root":"/r","repo_root":"/s"}}`, "/context/repo_root", "more than once"},
		{"duplicate by escape", `{"objective":"a","obj\u0065ctive":"b","instructions":"i","context":{"repo_root":"/r"}}`, "/objective", "more than once"},
		{"duplicate variable", `{"objective":"a","instructions":"i","context":{"repo_root":"/r"},"box":{"env":{"A":"1","A":"2"}}}`, "/box/env/A", "more than once"},
		{"other case beside it", `{"objective":"a","instructions":"i","context":{"repo_root":"/r","REPO_ROOT":"/s"}}`, "/context/REPO_ROOT", "letter case only"},
		{"other case alone", `{"Objective":"a","objective":"b","instructions":"i","context":{"repo_root":"/r"}}`, "/objective", "letter case only"},
		{"long s", `{"objective":"a","instructions":"i","in\u017ftructions":"j","context":{"repo_root":"/r"}}`, "/inſtructions", "letter case only"},
		{"NUL by escape", `{"objective":"a","instructions":"i","context":{"repo_root":"/a\u0000b"}}`, "/context/repo_root", "NUL"},
		{"raw NUL", "{\"objective\":\"a\x00\"}", "", "line 1"},
		{"NUL in a key", `{"objective":"a","instructions":"i","context":{"repo_root":"/r"},"a\u0000":1}`, "/a\x00", "NUL"},
		{"invalid UTF-8", "{\"objective\":\"\xff\"}", "", "invalid UTF-8"},
		{"overlong", "{\"objective\":\"\xc0\xaf\"}", "", "invalid UTF-8"},
		{"lone surrogate", `{"objective":"\ud800"}`, "", "surrogate"},
		{"exponent", `{"objective":"a","instructions":"i","context":{"repo_root":"/r"},"max_runtime_seconds":1e3}`, "/max_runtime_seconds", "exponent"},
		{"gigantic exponent", `{"objective":"a","instructions":"i","context":{"repo_root":"/r"},"max_runtime_seconds":1e999999999}`, "/max_runtime_seconds", "exponent"},
		{"many digits", `{"objective":"a","instructions":"i","context":{"repo_root":"/r"},"max_runtime_seconds":` + strings.Repeat("9", 5000) + `}`, "/max_runtime_seconds", "digits"},
		{"deep", strings.Repeat("[", 100_000), strings.Repeat("/0", 32), "deeper"},
		{"too large", `"` + strings.Repeat("x", MaxDocument) + `"`, "", "bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			task, err := Decode([]byte(tt.data))
			if task != nil {
				t.Errorf("task = %+v", task)
			}
			details := inputDetails(t, err)
			for _, d := range details {
				if strings.Contains(d.Message, tt.message) && (d.Path == tt.path || tt.path == "") {
					return
				}
			}
			t.Errorf("details = %+v, want one at %q with %q", details, tt.path, tt.message)
		})
	}
}

func TestDecodeListsAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Decode([]byte(`{
	  "task_id": "a..b", "objective": " ", "Objective": "x", "bogus": 1,
	  "context": {"repo_root": "rel/ative", "files_of_interest": ["ok", "../etc/passwd", 3], "base": "-x"},
	  "constraints": ["fine", {"kind": "nope"}, {"kind": "max_files_changed"}, {"kind": "paths_allowed", "paths": ["/abs"]}],
	  "acceptance_criteria": [{"command": "a", "expect_exit": 256}, {"expect_exit": 0}, {"command": "b"}, {"command": "b", "expect_exit": 2}],
	  "execution_mode": "mixed", "max_runtime_seconds": 0, "agent": {"name": "nobody", "variant": "plan!"},
	  "protected_paths": ["[", "a/../b"],
	  "box": {"memory": "1m", "disk": "much", "cpus": -1, "pids": 3, "network": {"allow": ["http://x", "ok.example"]},
	          "env": {"A-B": "1", "HOME": "/", "http_proxy": "x", "ANTHROPIC_API_KEY": "k", "FINE": 3}},
	  "land": "push", "session_id": "../s"
	}`))
	want := []string{
		"/Objective", "/bogus", "/objective", "/context/files_of_interest/2", "/constraints/1/kind",
		"/acceptance_criteria/0/expect_exit", "/acceptance_criteria/1/command", "/max_runtime_seconds",
		"/box/disk", "/box/cpus", "/box/pids", "/box/env/FINE", "/land",
		"/task_id", "/context/repo_root", "/context/files_of_interest/1", "/context/base", "/instructions",
		"/constraints/2/max", "/constraints/3/paths/0", "/acceptance_criteria/3/expect_exit",
		"/protected_paths/0", "/protected_paths/1", "/agent", "/agent/variant",
		"/box/memory", "/box/network/allow/0", "/box/env/A-B", "/box/env/HOME", "/box/env/http_proxy",
		"/box/env/ANTHROPIC_API_KEY", "/session_id",
	}
	got := map[string]bool{}
	for _, d := range inputDetails(t, err) {
		if got[d.Path] {
			t.Errorf("%s is reported twice", d.Path)
		}
		got[d.Path] = true
	}
	for _, path := range want {
		if !got[path] {
			t.Errorf("%s is not reported", path)
		}
		delete(got, path)
	}
	for path := range got {
		t.Errorf("%s is reported but fine", path)
	}
}

func TestDecodeNamesTheFieldThatWasMeant(t *testing.T) {
	t.Parallel()
	_, err := Decode([]byte(`{"objective":"o","Instructions":"i","context":{"repo_root":"/r"}}`))
	want := []Detail{
		{Path: "/Instructions", Message: `unknown field; keys are case-sensitive, is "instructions" meant?`},
		{Path: "/instructions", Message: "is required unless execution_mode is command"},
	}
	if diff := cmp.Diff(want, inputDetails(t, err)); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestDecodeNamesWhatIsWrongWithAConstraint(t *testing.T) {
	t.Parallel()
	_, err := Decode([]byte(`{"objective":"o","instructions":"i","context":{"repo_root":"/r"},"constraints":[
	  {"kind":"max_files_changed","max":1,"paths":["a"]}, {"kind":"no_deleted_files","max":1}, {"kind":"paths_allowed"},
	  {"kind":"paths_forbidden","Paths":["a"]}, {"kind":"max_lines_changed","max":"3"}, {"kind":"paths_allowed","paths":["a","/b",""]},
	  {"kind":"nope","paths":["a"],"more":1}, {"max":1}, {"kind":"max_files_changed","max":2.0}, {"kind":"max_files_changed","pa/th":1}]}`))
	want := []Detail{
		{Path: "/constraints/0/paths", Message: `max_files_changed has no parameter "paths" (it has: max)`},
		{Path: "/constraints/1/max", Message: `no_deleted_files has no parameter "max", and no other`},
		{Path: "/constraints/2/paths", Message: "is required"},
		{Path: "/constraints/3/Paths", Message: `unknown field; keys are case-sensitive, is "paths" meant?`},
		{Path: "/constraints/3/paths", Message: "is required"},
		{Path: "/constraints/4/max", Message: "must be an integer, not a string"},
		{Path: "/constraints/5/paths/1", Message: "must be relative to the root of the repository"},
		{Path: "/constraints/5/paths/2", Message: "must have at least 1 characters"},
		{Path: "/constraints/6/kind", Message: "must be one of " + kindNames()},
		{Path: "/constraints/6/more", Message: "unknown field"},
		{Path: "/constraints/7/kind", Message: "is required"},
		{Path: "/constraints/9/max", Message: "is required"},
		{Path: "/constraints/9/pa~1th", Message: `max_files_changed has no parameter "pa/th" (it has: max)`},
	}
	got := inputDetails(t, err)
	slices.SortFunc(got, func(a, b Detail) int { return strings.Compare(a.Path, b.Path) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestDecodeBoundsItsComplaints(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"objective":"o","instructions":"i","context":{"repo_root":"/r"}`)
	for i := range 2000 {
		b.WriteString(`,"` + strings.Repeat("x", 300) + strings.Repeat("y", i%100) + string(rune('a'+i%26)) + `":1`)
	}
	b.WriteString("}")
	_, err := Decode([]byte(b.String()))
	details := inputDetails(t, err)
	if len(details) != MaxDetails+1 || !strings.Contains(details[MaxDetails].Message, "more problems") {
		t.Errorf("%d details, the last %+v", len(details), details[len(details)-1])
	}
	if doc, _ := EncodeError(err); len(doc) > 256<<10 {
		t.Errorf("error document of %d bytes", len(doc))
	}
}

func TestRelativeRepositoriesAreOfTheTaskFile(t *testing.T) {
	t.Parallel()
	const relative = `{"objective":"o","instructions":"i","context":{"repo_root":"../r","base":"b"}}`
	for _, tt := range []struct{ data, dir, repo, want string }{
		{relative, "/a/b", "", "/a/r"},
		{relative, "/a/b", "/other", "/other"},
		{relative, "", "/other", "/other"},
		{smallTask, "/a/b", "", "/r"},
		{`{"objective":"o","instructions":"i"}`, "", "/other", "/other"},
	} {
		task, err := DecodeFrom([]byte(tt.data), tt.dir, tt.repo)
		if err != nil || task.Context.RepoRoot != tt.want {
			t.Errorf("%s in %q with %q: %+v, %v", tt.data, tt.dir, tt.repo, task, err)
		}
	}
	for _, data := range []string{relative, `{"objective":"o","instructions":"i","context":{"repo_root":"~/r"}}`} {
		if _, err := DecodeFrom([]byte(data), "", ""); err == nil {
			t.Errorf("%s is no error without a directory", data)
		}
	}
	for _, data := range []string{`{"objective":"a","objective":"b","instructions":"i"}`, `{"objective":"o","instructions":"i","context":[]}`, `[]`, `{`,
		`{"objective":"o","instructions":"i","context":{"REPO_ROOT":"/x"}}`} {
		if _, err := DecodeFrom([]byte(data), "", "/r"); err == nil {
			t.Errorf("%s is no error with another repository", data)
		}
	}
}

// kindNames lists the kinds of constraints.
func kindNames() string {
	var names []string
	for _, k := range check.Kinds() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}
