package check_test

import (
	"testing"

	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/check"
)

// No other spelling of a protected name slips by.
func TestProtectedPathsSeeThroughSpellings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, pattern string
		change        change.Change
		want          check.Outcome
	}{
		{"same", "src/api/**", change.Change{Name: "src/api/a.go"}, check.Fail},
		{"other case", "src/api/**", change.Change{Name: "src/API/a.go"}, check.Fail},
		{"case in pattern", "Makefile", change.Change{Name: "makefile"}, check.Fail},
		{"class with capitals", "[A-Z]*.md", change.Change{Name: "README.md"}, check.Fail},
		{"decomposed", "caf\u00e9/**", change.Change{Name: "cafe\u0301/menu"}, check.Fail},
		{"composed", "cafe\u0301/**", change.Change{Name: "caf\u00e9/menu"}, check.Fail},
		{"invisible character", "secret.txt", change.Change{Name: "sec\u200dret.txt"}, check.Fail},
		{"sharp s", "stra\u00dfe", change.Change{Name: "STRASSE"}, check.Fail},
		{"old name of a rename", "secret.txt", change.Change{Name: "x", OldName: "secret.txt"}, check.Fail},
		{"below a matched directory", "vendor*", change.Change{Name: "vendor2/a/b.go"}, check.Fail},
		{"directory replaced by a file", "src/api/*.go", change.Change{Name: "src/api/a.go", Type: "deleted"}, check.Fail},
		{"trailing slash", "src/", change.Change{Name: "src/a"}, check.Fail},
		{"not UTF-8", "\xff", change.Change{Name: "\xff"}, check.Fail},
		{"neighbour", "src/api", change.Change{Name: "src/api2/a.go"}, check.Pass},
		{"mode only", "run.sh", change.Change{Name: "run.sh", Type: "modified", ModeChange: "100644 100755"}, check.Fail},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, err := check.ProtectedPaths([]string{tt.pattern}).Check(t.Context(), check.Evidence{Changes: []change.Change{tt.change}})
			if err != nil {
				t.Fatal(err)
			}
			if v.Verdict != tt.want {
				t.Errorf("verdict = %s (%s), want %s", v.Verdict, v.Evidence, tt.want)
			}
		})
	}
}

func TestReadOnlyForbidsEveryChange(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		changes  []change.Change
		want     check.Outcome
		evidence string
		path     string
	}{
		{"nothing", nil, check.Pass, "nothing changed", ""},
		{"one", []change.Change{{Name: "a", Type: change.Added}}, check.Fail, "1 path differ", "a"},
		{"a rename", []change.Change{{Name: "\xff", OldName: "b", Type: change.Added}, {Name: "b", Type: change.Deleted}}, check.Fail, "2 paths differ", "\ufffd"},
	}
	for _, tt := range tests {
		v, err := check.ReadOnly().Check(t.Context(), check.Evidence{Changes: tt.changes})
		if err != nil || v.Verdict != tt.want || v.Evidence != tt.evidence || tt.path != "" && v.Paths[0] != tt.path {
			t.Errorf("%s: %+v, error %v", tt.name, v, err)
		}
	}
}
