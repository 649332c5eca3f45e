package document

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sandboxrun/schemas"
)

// messages maps the pointers of an error's details to their messages.
func messages(t *testing.T, err error) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, d := range inputDetails(t, err) {
		m[d.Path] = d.Message
	}
	return m
}

func TestUnknownFieldsNameTheOneThatIsMeant(t *testing.T) {
	t.Parallel()
	const task = `{"objective":"o","instructions":"i","context":{"repo_root":"/r"},`
	for _, tt := range []struct{ data, path, meant string }{
		{task + `"goal":"x"}`, "/goal", `"objective"`},
		{task + `"objectve":"x"}`, "/objectve", `"objective"`},
		{task + `"Instructions":"x"}`, "/Instructions", ""}, // told as a key that differs in case
		{task + `"maxRuntimeSeconds":5}`, "/maxRuntimeSeconds", `"max_runtime_seconds"`},
		{task + `"timeout":5}`, "/timeout", `"max_runtime_seconds"`},
		{task + `"repoRoot":"/r"}`, "/repoRoot", "/context/repo_root"},
		{task + `"repo":"/r"}`, "/repo", "/context/repo_root"},
		{task + `"image":"x"}`, "/image", "/box/image"},
		{task + `"box":{"agent":"claude"}}`, "/box/agent", "/agent"},
		{task + `"acceptance_criteria":[{"cmd":"x"}]}`, "/acceptance_criteria/0/cmd", `"command"`},
		{task + `"mcp_servers":{"a":{"cmd":"x"}}}`, "/mcp_servers/a/cmd", `"command"`},
		{task + `"zebra":1}`, "/zebra", ""},
		{task + `"` + strings.Repeat("o", 5000) + `":1}`, "", ""},
		{`{"objective":"o","instructions":"i","context":{"repoRoot":"/r"}}`, "/context/repoRoot", `"repo_root"`},
	} {
		_, err := Decode([]byte(tt.data))
		got := messages(t, err)
		if tt.path == "" {
			continue // only that it ends
		}
		if tt.meant == "" {
			if strings.Contains(got[tt.path], "is ") && !strings.Contains(got[tt.path], "letter case") {
				t.Errorf("%s: %q", tt.path, got[tt.path])
			}
			continue
		}
		if want := "unknown field; is " + tt.meant + " meant?"; got[tt.path] != want {
			t.Errorf("%s: %q, want %q", tt.path, got[tt.path], want)
		}
	}
}

func TestOtherNamesAreOfFieldsThatExist(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, list := range schemaPlaces() {
		for _, pl := range list {
			names[pl.name] = true
		}
	}
	for other, name := range otherNames {
		if !names[name] {
			t.Errorf("%s stands for %s, which no schema has", other, name)
		}
		if plainName(other) != other {
			t.Errorf("%s is not in its plain form %s", other, plainName(other))
		}
	}
}

// A pattern is for programs: its message is in words.
func TestEveryPatternOfTasksAndConfigurationHasWords(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"task", "config"} {
		text, err := schemas.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			_, after, ok := strings.Cut(line, `"pattern": "`)
			if !ok {
				continue
			}
			pattern, _, _ := strings.Cut(after, `"`)
			if pattern = strings.ReplaceAll(pattern, `\\`, `\`); formWords[pattern] == "" {
				t.Errorf("%s: no words for %s (there are %q)", name, pattern, slices.Sorted(maps.Keys(formWords)))
			}
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"claude", "codex", "CLAUDE_CODE", "execute", "list"}
	for word, want := range map[string]string{
		"exceute": "execute", "claude-code": "CLAUDE_CODE", "Codex": "codex", "clade": "claude", "x": "", "": "", "zebra": "", "é": "", "lsit": "list",
		strings.Repeat("list", 1000): "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%.20s: %q, want %q", word, got, want)
		}
	}
}

func TestAgentsOfOtherSpellingsAreNamed(t *testing.T) {
	t.Parallel()
	if got := AgentProblem("claude-code"); !strings.Contains(got, `is "claude" meant?`) {
		t.Error(got)
	}
	if got := AgentProblem("nobody"); strings.Contains(got, "meant") {
		t.Error(got)
	}
}

func TestASchemaOfAnEditorIsAllowedAndIgnored(t *testing.T) {
	t.Parallel()
	if _, err := Decode([]byte(`{"$schema":"task.schema.json","objective":"o","instructions":"i","context":{"repo_root":"/r"}}`)); err != nil {
		t.Error(err)
	}
}
