package runner

import (
	"strings"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

func TestTheUsersSayOnFindings(t *testing.T) {
	t.Parallel()
	escape := gitdiff.Finding{Code: gitdiff.SymlinkEscapes, Grade: gitdiff.Refuse}
	trap := gitdiff.Finding{Code: gitdiff.DangerousPath, Class: "submodule_attack", Grade: gitdiff.Refuse}
	workflow := gitdiff.Finding{Code: gitdiff.DangerousPath, Class: "workflow", Grade: gitdiff.Note}
	for name, tc := range map[string]struct {
		land config.Land
		f    gitdiff.Finding
		want gitdiff.Grade
	}{
		"refused by itself":          {config.Land{}, escape, gitdiff.Refuse},
		"permitted":                  {config.Land{Permit: []string{"symlink_escapes"}}, escape, gitdiff.Flaw},
		"another one permitted":      {config.Land{Permit: []string{"case_collision"}}, escape, gitdiff.Refuse},
		"refusing wins":              {config.Land{Permit: []string{"symlink_escapes"}, Refuse: []string{"symlink_escapes"}}, escape, gitdiff.Refuse},
		"told":                       {config.Land{}, workflow, gitdiff.Note},
		"permitting changes no note": {config.Land{Permit: []string{"dangerous_path"}}, workflow, gitdiff.Note},
		"a class refused":            {config.Land{Refuse: []string{"workflow"}}, workflow, gitdiff.Refuse},
		"a code refused":             {config.Land{Refuse: []string{"dangerous_path"}}, workflow, gitdiff.Refuse},
		"a trap":                     {config.Land{Permit: []string{"symlink_escapes", "case_collision"}}, trap, gitdiff.Refuse},
	} {
		if got := gradeOf(tc.land, tc.f); got != tc.want {
			t.Errorf("%s: grade %d, want %d", name, got, tc.want)
		}
	}
	if _, err := config.Decode([]byte(`{"land":{"permit":["dangerous_path"]}}`)); err == nil {
		t.Error("a configuration may permit attacks on git")
	}
}

func TestAListOfChangedFilesIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	changes := make([]change.Change, 10)
	for i := range changes {
		changes[i] = change.Change{Path: strings.Repeat("p", 100), Highlights: []string{strings.Repeat("h", 40)}}
	}
	for limit, want := range map[int]int{0: 0, 299: 0, 300: 1, 2999: 9, 3000: 10, 1 << 20: 10} {
		if list, omitted := listed(changes, limit); len(list) != want || omitted != 10-want {
			t.Errorf("%d bytes: %d listed and %d omitted, want %d listed", limit, len(list), omitted, want)
		}
	}
}

// Every class that is only told can be refused by name.
func TestEveryHazardCanBeRefused(t *testing.T) {
	t.Parallel()
	for _, h := range change.Hazards {
		if _, err := config.Decode([]byte(`{"land":{"refuse":["` + h.Class + `"]}}`)); err != nil {
			t.Errorf("%s: %v", h.Class, err)
		}
	}
}

func TestAFloodOfNotesHidesNothingGraver(t *testing.T) {
	t.Parallel()
	var f findings
	for range 2 * maxIssues {
		f.add(issue("dangerous_path", "").withSeverity(document.SeverityNote))
	}
	f.add(issue("acceptance_failed", "").withSeverity(document.SeverityFlaw))
	f.add(issue("engine_lost", "").withSeverity(document.SeverityFatal))
	got := f.sorted()
	if got[0].Code != "engine_lost" || got[1].Code != "acceptance_failed" || len(got) != maxIssues+1 || f.omitted != maxIssues+2 {
		t.Errorf("%d issues, first %v, %d omitted", len(got), got[:2], f.omitted)
	}
}
