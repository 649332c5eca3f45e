package reading

import (
	"encoding/json"
	"strings"
	"testing"

	"sandboxrun/runner/check"
)

func TestPatternsOfTheUserGoFirst(t *testing.T) {
	t.Parallel()
	user := []UserPattern{
		{Pattern: `linters? (?:are|is) happy`, Kind: "command", Params: map[string]json.RawMessage{"command": json.RawMessage(`"make lint"`)}},
		{Pattern: `the target (?P<command>[a-z]+ [a-z]+) ends with (?P<expect_exit>\d+)`, Kind: "command"},
		{Pattern: `keep out of (?P<paths>\S+(?: \S+)*)`, Kind: "paths_forbidden"},
		{Pattern: `small: (?P<max>\S+) files`, Kind: "max_files_changed"},
		{Pattern: `do not change the log format`, Kind: "no_new_files"},
		{Pattern: `保持(?:整洁)`, Kind: "no_new_files"},
		{Pattern: `ambiguous.*`, Kind: "no_new_files"}, {Pattern: `.*ambiguous`, Kind: "no_deleted_files"},
	}
	p := With(user)
	for sentence, want := range map[string]string{
		"Linters are happy.": "$make lint", "The target make foo ends with 3": "$make foo=3",
		"Keep out of src/a, docs":      `paths_forbidden{"paths":["src/a","docs"]}`,
		"small: five files":            `max_files_changed{"max":5}`,
		"small: many files":            "unread",
		"DO NOT change the log format": "no_new_files{}",
		"保持整潔":                         "no_new_files{}",
		"保持整洁":                         "no_new_files{}",
		"ambiguous":                    "unread",
		"Keep the log format, do not change the public API": `log_format{} + public_api{"level":"signature"}`,
	} {
		if got := notation(p.Read("", sentence)); got != want {
			t.Errorf("%q: read as %s, want %s", sentence, got, want)
		}
	}
	if r := p.Read("", "ambiguous"); !strings.Contains(r.Reason, "two patterns") {
		t.Errorf("ambiguous words: %+v", r)
	}
}

func TestUselessPatternsOfTheUserAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		u   UserPattern
		at  string
		why string
	}{
		{UserPattern{Pattern: `a(`, Kind: "command"}, "/pattern", "RE2"},
		{UserPattern{Pattern: `a(?=b)`, Kind: "command"}, "/pattern", "RE2"},
		{UserPattern{Pattern: `.*`, Kind: "no_new_files"}, "/kind", ""},
		{UserPattern{Pattern: `x`, Kind: "nothing"}, "/kind", "no check"},
		{UserPattern{Pattern: `(?P<maximum>x)`, Kind: "max_files_changed"}, "/pattern", "no parameter"},
		{UserPattern{Pattern: `x`, Kind: "max_files_changed", Params: map[string]json.RawMessage{"top": nil}}, "/params/top", "no parameter"},
		{UserPattern{Pattern: `x`, Kind: "max_files_changed", Examples: []string{"x"}}, "/examples/0", "does not measure"},
		{UserPattern{Pattern: `x (?P<max>\d+)`, Kind: "max_files_changed", Examples: []string{"x 3", "y"}}, "/examples/1", "does not read"},
		{UserPattern{Pattern: strings.Repeat("x", 3000), Kind: "command"}, "/pattern", "bytes"},
		{UserPattern{Pattern: `x (?P<max>\d+)`, Kind: "max_files_changed", Examples: []string{"x 3."}}, "", ""},
	} {
		at, why := tt.u.Problem()
		if tt.u.Pattern == ".*" {
			tt.at, tt.why = "/pattern", "empty"
		}
		if at != tt.at || !strings.Contains(why, tt.why) {
			t.Errorf("%.40q: %s %q, want %s %q", tt.u.Pattern, at, why, tt.at, tt.why)
		}
	}
}

// Whatever a sentence is, what is proposed in its place can be pasted.
func TestWhatIsProposedCanBePasted(t *testing.T) {
	t.Parallel()
	for _, s := range append(worst(), "", "Keep it simple", "do not break `src/a`", "Keep it below 100 lines", "delete nothing") {
		var object struct {
			Kind    string `json:"kind"`
			Command string `json:"command"`
		}
		raw := Suggest(s, Hints{Files: []string{"a/../b", "src/x.go"}})
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatal(err)
		}
		if _, err := check.New(object.Kind, raw); err != nil {
			t.Errorf("%.40q: %s: %v", s, raw, err)
		}
		raw = Suggest(s, Hints{Criterion: true, Commands: []string{"make test"}})
		if err := json.Unmarshal(raw, &object); err != nil || object.Command == "" {
			t.Errorf("%.40q: %s: %v", s, raw, err)
		}
	}
	for s, want := range map[string]string{
		"Keep the diff small, 50 lines or so": `{"kind":"max_lines_changed","max":200}`, "Stay away from `src/a`": `{"kind":"paths_forbidden","paths":["src/a"]}`,
		"Be nice": `{"kind":"paths_allowed","paths":["lib/a.go"]}`,
	} {
		if got := string(Suggest(s, Hints{Files: []string{"lib/a.go"}})); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	for s, want := range map[string]string{"`cargo test` passes on Windows": "cargo test", "go test ./...": "go test ./...", "It is fast": "make test"} {
		if got := (Hints{Criterion: true, Commands: []string{"make test"}}).command(plainText(t, s)); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func plainText(t *testing.T, s string) *text {
	t.Helper()
	n, why := normalize(s)
	if why != "" {
		t.Fatal(why)
	}
	return n
}

func TestVagueInstructions(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"优化一下": true, "优化一下代码": true, "帮我改一下": true, "請優化一下": true, "Improve it.": true, "Fix it": true, "Clean up the code a bit": true, "make it better": true,
		"Optimize": true, "优化。": true, "优化一下!": true, "重构一下这里": true,
		"Fix the parser": false, "优化一下登录页的查询": false, "Return 200.": false, "Improve `a.go`": false, "Fix it. Return 200 from /health.": false, "": false,
	} {
		if got := Vague(s); got != want {
			t.Errorf("%q: vague %t", s, got)
		}
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	allowed := func(p ...string) Check {
		return Check{Kind: "paths_allowed", Params: marshal(map[string]any{"paths": p})}
	}
	forbidden := func(p ...string) Check {
		return Check{Kind: "paths_forbidden", Params: marshal(map[string]any{"paths": p})}
	}
	command := func(code int) Check { return Check{Command: "make", ExpectExit: &code} }
	for name, tt := range map[string]struct {
		a, b Check
		want bool
	}{
		"exit codes":             {command(0), command(1), true},
		"the same exit code":     {command(1), command(1), false},
		"apart":                  {allowed("src/**"), allowed("docs"), true},
		"one in another":         {allowed("src/**"), allowed("src/a"), false},
		"wildcards":              {allowed("*.go"), allowed("src/a"), false},
		"all forbidden":          {allowed("src/a", "src/b/**"), forbidden("src"), true},
		"the order":              {forbidden("src/**"), allowed("src/a"), true},
		"some forbidden":         {allowed("src/a", "docs"), forbidden("src"), false},
		"a part":                 {allowed("src"), forbidden("src/a"), false},
		"like names":             {allowed("src2"), forbidden("src"), false},
		"forbidden by wildcards": {allowed("src/a.go"), forbidden("**/*.go"), false},
		"other kinds":            {Check{Kind: "no_new_files"}, Check{Kind: "tests_added"}, false},
	} {
		got := Contradictions([]Demand{{"/constraints/0", tt.a}, {"/constraints/1", tt.b}})
		if (len(got) == 1) != tt.want || tt.want && (got[0].First != "/constraints/0" || got[0].Second != "/constraints/1" || got[0].Why == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
