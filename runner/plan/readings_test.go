package plan

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/reading"
)

// sentences is a task with constraints and criteria in words and objects, each written as JSON.
func sentences(t *testing.T, constraints, criteria []string, more string) *document.Task {
	t.Helper()
	task, err := document.Decode([]byte(`{"objective":"Add an endpoint.","instructions":"Return 200.","context":{"repo_root":"/srv/app"},"execution_mode":"mixed",` +
		more + `"constraints":[` + strings.Join(constraints, ",") + `],"acceptance_criteria":[` + strings.Join(criteria, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func TestSentencesBecomeChecksAndCommandsOfThePlan(t *testing.T) {
	t.Parallel()
	task := sentences(t, []string{`"Do not delete any files."`, `{"kind":"max_files_changed","max":3}`, `"Be nice"`},
		[]string{`"npm test 全部通过"`, `{"command":"make lint"}`, `"` + "`make lint`" + ` passes and ` + "`make nothing`" + ` exits with 2"`}, `"suggested_commands":["make nothing"],`)
	p, err := Compile(task, config.Default(), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	var at []string
	for _, r := range p.Readings {
		at = append(at, r.Pointer)
	}
	if want := []string{"/constraints/0", "/constraints/2", "/acceptance_criteria/0", "/acceptance_criteria/2"}; !slices.Equal(at, want) {
		t.Fatalf("readings of %v, want %v", at, want)
	}
	got, err := json.Marshal(p.Verify)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"command":"make nothing","criteria":[],"expect_exit":2,"readings":[3]},{"command":"make lint","criteria":[1],"expect_exit":0,"readings":[3]},` +
		`{"command":"npm test","criteria":[],"expect_exit":0,"readings":[2]}]`
	if string(got) != want {
		t.Errorf("verify %s\nwant   %s", got, want)
	}
	var kinds []string
	for _, c := range p.Checks() {
		kinds = append(kinds, c.Kind)
	}
	if !slices.Equal(kinds, []string{"max_files_changed", "no_deleted_files"}) || p.Unmeasured() != 0 {
		t.Errorf("checks %v, %d criteria not measured", kinds, p.Unmeasured())
	}
	for _, sentence := range []string{"- Do not delete any files.\n", "- Be nice\n", "- npm test 全部通过\n"} {
		if !strings.Contains(p.Agent.Prompt, sentence) {
			t.Errorf("the prompt does not have %q", sentence)
		}
	}
}

func TestAStrictPlanRefusesWhatNothingMeasures(t *testing.T) {
	t.Parallel()
	constraints := []string{`"Do not delete any files."`, `"Be nice"`, `"Do not delete any files and write clear comments"`}
	criteria := []string{`"npm test passes"`, `"All tests pass."`}
	refused := func(task *document.Task, o Overrides) (at []string) {
		_, err := Compile(task, config.Default(), o)
		bad, ok := errors.AsType[*document.InputError](err)
		if err != nil && !ok {
			t.Fatal(err)
		}
		if ok {
			for _, d := range bad.Details {
				at = append(at, d.Path)
			}
		}
		return at
	}
	want := []string{"/constraints/1", "/constraints/2", "/acceptance_criteria/1"}
	if got := refused(sentences(t, constraints, criteria, ""), Overrides{Strict: true}); !slices.Equal(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}
	if got := refused(sentences(t, constraints, criteria, `"strict":true,`), Overrides{}); !slices.Equal(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}
	if got := refused(sentences(t, constraints, criteria, ""), Overrides{}); got != nil {
		t.Errorf("not strict, and refused %v", got)
	}
	if got := refused(sentences(t, constraints[:1], criteria[:1], `"strict":true,`), Overrides{}); got != nil {
		t.Errorf("everything is measured, and refused %v", got)
	}
}

func TestContradictoryDemandsAreLeftUnread(t *testing.T) {
	t.Parallel()
	task := sentences(t, []string{`"Only change ` + "`src/`" + `"`, `"Only change ` + "`docs/`" + `"`, `"Do not delete files"`, `{"kind":"paths_forbidden","paths":["src"]}`},
		[]string{`"` + "`make`" + ` exits with 1"`, `{"command":"make"}`}, "")
	p, err := Compile(task, config.Default(), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Readings {
		if dropped := Contradicts(r) && len(r.Checks) == 0; dropped != (r.Pointer != "/constraints/2") {
			t.Errorf("%+v", r)
		}
	}
	if len(p.Lint) != 3 || len(p.Verify) != 1 || p.Verify[0].ExpectExit != 0 {
		t.Errorf("lint %+v, verify %+v", p.Lint, p.Verify)
	}
}

func TestVagueInstructionsAreNamed(t *testing.T) {
	t.Parallel()
	for instructions, want := range map[string]int{"优化一下": 1, "Return 200 from /health.": 0} {
		p, err := Compile(&document.Task{Objective: instructions, Instructions: instructions, Context: document.TaskContext{RepoRoot: "/srv/app"}}, config.Default(), Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Lint) != want || want > 0 && p.Lint[0].Path != "/instructions" {
			t.Errorf("%s: %+v", instructions, p.Lint)
		}
	}
}

func TestPatternsOfTheConfigurationReadSentences(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Readings = []reading.UserPattern{{Pattern: "be nice", Kind: "no_deleted_files"}}
	p, err := Compile(sentences(t, []string{`"Be nice"`}, nil, ""), c, Overrides{})
	if err != nil || !p.Readings[0].Whole() {
		t.Errorf("%+v, error %v", p, err)
	}
}
