package check_test

import (
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/check"
)

// No other spelling of a protected name slips by.
func TestProtectedPathsSeeThroughSpellings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, pattern string
		change        gitdiff.Change
		want          check.Outcome
	}{
		{"same", "src/api/**", gitdiff.Change{Name: "src/api/a.go"}, check.Fail},
		{"other case", "src/api/**", gitdiff.Change{Name: "src/API/a.go"}, check.Fail},
		{"case in pattern", "Makefile", gitdiff.Change{Name: "makefile"}, check.Fail},
		{"class with capitals", "[A-Z]*.md", gitdiff.Change{Name: "README.md"}, check.Fail},
		{"decomposed", "caf\u00e9/**", gitdiff.Change{Name: "cafe\u0301/menu"}, check.Fail},
		{"composed", "cafe\u0301/**", gitdiff.Change{Name: "caf\u00e9/menu"}, check.Fail},
		{"invisible character", "secret.txt", gitdiff.Change{Name: "sec\u200dret.txt"}, check.Fail},
		{"sharp s", "stra\u00dfe", gitdiff.Change{Name: "STRASSE"}, check.Fail},
		{"old name of a rename", "secret.txt", gitdiff.Change{Name: "x", OldName: "secret.txt"}, check.Fail},
		{"below a matched directory", "vendor*", gitdiff.Change{Name: "vendor2/a/b.go"}, check.Fail},
		{"directory replaced by a file", "src/api/*.go", gitdiff.Change{Name: "src/api/a.go", Type: "deleted"}, check.Fail},
		{"trailing slash", "src/", gitdiff.Change{Name: "src/a"}, check.Fail},
		{"not UTF-8", "\xff", gitdiff.Change{Name: "\xff"}, check.Fail},
		{"neighbour", "src/api", gitdiff.Change{Name: "src/api2/a.go"}, check.Pass},
		{"mode only", "run.sh", gitdiff.Change{Name: "run.sh", Type: "modified", ModeChange: "100644 100755"}, check.Fail},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, err := check.ProtectedPaths([]string{tt.pattern}).Check(t.Context(), check.Evidence{Changes: []gitdiff.Change{tt.change}})
			if err != nil {
				t.Fatal(err)
			}
			if v.Verdict != tt.want {
				t.Errorf("verdict = %s (%s), want %s", v.Verdict, v.Evidence, tt.want)
			}
		})
	}
}
