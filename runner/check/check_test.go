package check_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func judge(t *testing.T, kind, params string, changes ...change.Change) check.Verdict {
	t.Helper()
	c, err := check.New(kind, json.RawMessage(params))
	if err != nil {
		t.Fatalf("New(%s): %v", kind, err)
	}
	v, err := c.Check(t.Context(), check.Evidence{Changes: changes})
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	if v.Evidence == "" {
		t.Error("verdict without evidence")
	}
	return v
}

func modified(paths ...string) []change.Change {
	var list []change.Change
	for _, p := range paths {
		list = append(list, change.Change{Name: p, Type: "modified", Additions: 1, Deletions: 1})
	}
	return list
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	rename := []change.Change{
		{Name: "docs/api.go", OldName: "src/api/api.go", Type: "added"},
		{Name: "src/api/api.go", Type: "deleted"},
	}
	tests := []struct {
		name, kind, params string
		changes            []change.Change
		want               check.Outcome
		paths              []string
	}{
		{"allowed inside", "paths_allowed", `{"kind":"paths_allowed","paths":["src/**","README.md"]}`, modified("src/a/b.go", "README.md"), check.Pass, nil},
		{"allowed outside", "paths_allowed", `{"kind":"paths_allowed","paths":["src/**"]}`, modified("src/a.go", "go.mod"), check.Fail, []string{"go.mod"}},
		{"allowed directory name", "paths_allowed", `{"kind":"paths_allowed","paths":["src/"]}`, modified("src/a/b.go"), check.Pass, nil},
		{"allowed star is one level", "paths_allowed", `{"kind":"paths_allowed","paths":["src/*"]}`, modified("src/a/b.go"), check.Fail, []string{"src/a/b.go"}},
		{"allowed is not case-folded", "paths_allowed", `{"kind":"paths_allowed","paths":["src/**"]}`, modified("SRC/a.go"), check.Fail, []string{"SRC/a.go"}},
		{"allowed new name, old name outside", "paths_allowed", `{"kind":"paths_allowed","paths":["docs/**"]}`, rename, check.Fail, []string{"src/api/api.go"}},
		{"nothing changed", "paths_allowed", `{"kind":"paths_allowed","paths":["src/**"]}`, nil, check.Pass, nil},
		{"forbidden untouched", "paths_forbidden", `{"kind":"paths_forbidden","paths":["src/api/**"]}`, modified("src/apx/a.go"), check.Pass, nil},
		{"forbidden touched", "paths_forbidden", `{"kind":"paths_forbidden","paths":["src/api/**"]}`, modified("src/api/x/a.go"), check.Fail, []string{"src/api/x/a.go"}},
		{"forbidden directory became a link", "paths_forbidden", `{"kind":"paths_forbidden","paths":["src/api/**"]}`, modified("src/api"), check.Fail, []string{"src/api"}},
		{"forbidden old name", "paths_forbidden", `{"kind":"paths_forbidden","paths":["src/api"]}`, rename[:1], check.Fail, []string{"src/api/api.go"}},
		{"files within", "max_files_changed", `{"kind":"max_files_changed","max":2}`, modified("a", "b"), check.Pass, nil},
		{"files beyond", "max_files_changed", `{"kind":"max_files_changed","max":1}`, modified("a", "b"), check.Fail, nil},
		{"lines within", "max_lines_changed", `{"kind":"max_lines_changed","max":4}`, modified("a", "b"), check.Pass, nil},
		{"lines beyond", "max_lines_changed", `{"kind":"max_lines_changed","max":3}`, modified("a", "b"), check.Fail, nil},
		{"lines of a binary", "max_lines_changed", `{"kind":"max_lines_changed","max":3}`, []change.Change{{Name: "x.png", Binary: true}}, check.Unverifiable, []string{"x.png"}},
		{"nothing deleted", "no_deleted_files", `{"kind":"no_deleted_files"}`, modified("a"), check.Pass, nil},
		{"deleted", "no_deleted_files", `{"kind":"no_deleted_files"}`, rename, check.Fail, []string{"src/api/api.go"}},
		{"sentence", "", ``, modified("a"), check.Unverifiable, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := judge(t, tt.kind, tt.params, tt.changes...)
			if v.Verdict != tt.want {
				t.Errorf("verdict = %s (%s), want %s", v.Verdict, v.Evidence, tt.want)
			}
			if diff := cmp.Diff(tt.paths, v.Paths); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadParametersAreRefusedWithTheirPointer(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, kind, params, path string }{
		{"unknown kind", "paths_denied", `{"kind":"paths_denied"}`, "/kind"},
		{"no paths", "paths_allowed", `{"kind":"paths_allowed"}`, "/paths"},
		{"empty paths", "paths_forbidden", `{"kind":"paths_forbidden","paths":[]}`, "/paths"},
		{"absolute", "paths_allowed", `{"kind":"paths_allowed","paths":["a","/etc/**"]}`, "/paths/1"},
		{"escaping", "paths_allowed", `{"kind":"paths_allowed","paths":["../x"]}`, "/paths/0"},
		{"inner dots", "paths_allowed", `{"kind":"paths_allowed","paths":["a/../../x"]}`, "/paths/0"},
		{"broken glob", "paths_forbidden", `{"kind":"paths_forbidden","paths":["a[b"]}`, "/paths/0"},
		{"wrong type", "paths_forbidden", `{"kind":"paths_forbidden","paths":[3]}`, "/paths/0"},
		{"no max", "max_files_changed", `{"kind":"max_files_changed"}`, "/max"},
		{"negative max", "max_lines_changed", `{"kind":"max_lines_changed","max":-1}`, "/max"},
		{"fraction", "max_lines_changed", `{"kind":"max_lines_changed","max":1.5}`, "/max"},
		{"parameter of another kind", "max_files_changed", `{"kind":"max_files_changed","max":1,"paths":["a"]}`, "/paths"},
		{"parameter nobody takes", "no_deleted_files", `{"kind":"no_deleted_files","max":1}`, "/max"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := check.New(tt.kind, json.RawMessage(tt.params))
			var bad *check.ParamError
			if !errors.As(err, &bad) {
				t.Fatalf("error = %v, want a ParamError", err)
			}
			if len(*bad) != 1 || (*bad)[0].Path != tt.path || (*bad)[0].Message == "" {
				t.Errorf("problems = %+v, want one at %s", *bad, tt.path)
			}
		})
	}
}

func TestVerdictsStayShortHoweverMuchChanged(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	v := judge(t, "paths_allowed", `{"kind":"paths_allowed","paths":["a"]}`, modified(manyPaths(long, 5000)...)...)
	if len(v.Paths) > 20 || len(v.Evidence) > 2000 {
		t.Errorf("%d paths, %d bytes of evidence", len(v.Paths), len(v.Evidence))
	}
	if !strings.Contains(v.Evidence, "4997 more") {
		t.Errorf("evidence %q does not count the rest", v.Evidence)
	}
}

func manyPaths(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = prefix + string(rune('a'+i%26)) + strings.Repeat("y", i)
	}
	return list
}
