package runner

import (
	"testing"

	"sandboxrun/gitdiff"
)

func TestTheUsersSayOnFindings(t *testing.T) {
	t.Parallel()
	escape := gitdiff.Finding{Code: gitdiff.SymlinkEscapes, Grade: gitdiff.Refuse}
	trap := gitdiff.Finding{Code: gitdiff.DangerousPath, Class: "submodule_attack", Grade: gitdiff.Refuse}
	workflow := gitdiff.Finding{Code: gitdiff.DangerousPath, Class: "workflow", Grade: gitdiff.Note}
	for name, tc := range map[string]struct {
		land LandConfig
		f    gitdiff.Finding
		want gitdiff.Grade
	}{
		"refused by itself":          {LandConfig{}, escape, gitdiff.Refuse},
		"permitted":                  {LandConfig{Permit: []string{"symlink_escapes"}}, escape, gitdiff.Flaw},
		"another one permitted":      {LandConfig{Permit: []string{"case_collision"}}, escape, gitdiff.Refuse},
		"refusing wins":              {LandConfig{Permit: []string{"symlink_escapes"}, Refuse: []string{"symlink_escapes"}}, escape, gitdiff.Refuse},
		"told":                       {LandConfig{}, workflow, gitdiff.Note},
		"permitting changes no note": {LandConfig{Permit: []string{"dangerous_path"}}, workflow, gitdiff.Note},
		"a class refused":            {LandConfig{Refuse: []string{"workflow"}}, workflow, gitdiff.Refuse},
		"a code refused":             {LandConfig{Refuse: []string{"dangerous_path"}}, workflow, gitdiff.Refuse},
		"a trap":                     {LandConfig{Permit: []string{"symlink_escapes", "case_collision"}}, trap, gitdiff.Refuse},
	} {
		if got := tc.land.grade(tc.f); got != tc.want {
			t.Errorf("%s: grade %d, want %d", name, got, tc.want)
		}
	}
	if _, err := decodeConfig([]byte(`{"land":{"permit":["dangerous_path"]}}`)); err == nil {
		t.Error("a configuration may permit attacks on git")
	}
}

// Every class that is only told can be refused by name.
func TestEveryHazardCanBeRefused(t *testing.T) {
	t.Parallel()
	for _, h := range gitdiff.Hazards {
		if _, err := decodeConfig([]byte(`{"land":{"refuse":["` + h.Class + `"]}}`)); err != nil {
			t.Errorf("%s: %v", h.Class, err)
		}
	}
}

func TestAFloodOfNotesHidesNothingGraver(t *testing.T) {
	t.Parallel()
	var f findings
	for range 2 * maxIssues {
		f.add(note, Issue{Code: "dangerous_path"})
	}
	f.add(flaw, Issue{Code: "acceptance_failed"})
	f.add(fatal, Issue{Code: "engine_lost"})
	got := f.sorted()
	if got[0].Code != "engine_lost" || got[1].Code != "acceptance_failed" || len(got) != maxIssues+1 || f.omitted != maxIssues+2 {
		t.Errorf("%d issues, first %v, %d omitted", len(got), got[:2], f.omitted)
	}
}
