package runner

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/runner/box"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
)

// A run that ended early has verdicts, too, and they are known before the landing.
func TestEveryRunHasVerdictsBeforeItLands(t *testing.T) {
	t.Parallel()
	names := []string{}
	for _, ph := range phases {
		names = append(names, ph.name)
	}
	at := slices.Index(names, "judge")
	if at < 0 || at > slices.Index(names, phaseLand) || phases[at].skip != nil || phases[at].bound == 0 {
		t.Fatalf("phases %v: judge must come before land, under a bound of its own, and never be skipped", names)
	}
	x := &run{}
	x.plan = &plan.Plan{Mode: document.ModeCode, Criteria: []document.Criterion{{Command: "make test"}, {Text: "it is nice"}},
		Verify: []plan.VerifyCommand{{Command: "make test", Criteria: []int{0}}}, Constraints: []document.Constraint{{Text: "be brief"}}}
	x.report = newReport(nil, 0)
	if err := judge(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	var verdicts, codes []string
	for _, j := range x.report.acceptance {
		verdicts = append(verdicts, j.Verdict)
	}
	for _, i := range x.report.sorted() {
		codes = append(codes, i.Code)
	}
	if !slices.Equal(verdicts, []string{"unverifiable", "unverifiable"}) || !slices.Equal(codes, []string{document.CodeAcceptanceFailed, document.CodeCriterionUnverifiable, document.CodeNoTestsRan}) || x.report.tests.Passed != nil {
		t.Errorf("verdicts %v, codes %v, tests %+v", verdicts, codes, x.report.tests)
	}
}

// A read-only variant, protected paths and constraints are judged in the same way and reported each in its own.
func TestAChangeIsJudgedByAllThatIsRequiredOfIt(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "1\n", "b": "1\n"})
	base := b.Head(t)
	gitdifftest.WriteFiles(t, b.Dir, map[string]string{"a": "2\n", "b": "2\n"})
	b.Git(t, "add", "-A")
	tree := b.Git(t, "write-tree")
	constraint := func(text string) document.Constraint {
		var c document.Constraint
		gitdifftest.Must(t, json.Unmarshal([]byte(text), &c))
		return c
	}
	p := &plan.Plan{Agent: &plan.Agent{Variant: "PLAN", ReadOnly: true}, Protected: []string{"B"}, Constraints: []document.Constraint{
		constraint(`"be brief"`), constraint(`{"kind":"max_files_changed","max":1}`), constraint(`{"kind":"no_deleted_files"}`),
	}}
	diff, err := change.Compare(t.Context(), b.Objects, base.Tree, tree)
	gitdifftest.Must(t, err)
	x := &run{facts: facts{plan: p, base: base, report: newReport(nil, 0)}, trees: box.Trees{Objects: b.Objects}}
	x.change = captured{diff: diff, snapshot: &capture.Snapshot{Tree: tree}}
	gitdifftest.Must(t, x.judgeChange(t.Context()))
	gitdifftest.Must(t, x.judgeSentences(t.Context()))

	type line struct {
		severity                document.Severity
		code, description, path string
	}
	var issues []line
	for _, i := range x.report.list {
		issues = append(issues, line{i.severity, i.Code, i.Description, i.Path})
	}
	const files = `{"kind":"max_files_changed","max":1}`
	want := []line{
		{document.SeverityFatal, "constraint_violated", "variant PLAN changes nothing, but 2 paths differ", "a"},
		{document.SeverityFlaw, "protected_path_modified", `changed protected paths: "b"`, "b"},
		{document.SeverityFlaw, "constraint_violated", files + ": 2 files changed, at most 1 allowed", ""},
		{document.SeverityNote, "constraint_unverifiable", `/constraints/0 "be brief": no pattern reads it as a check`, ""},
	}
	if d := cmp.Diff(want, issues, cmp.AllowUnexported(line{})); d != "" {
		t.Errorf("issues (-want +got):\n%s", d)
	}
	refused := []document.Refusal{
		{Code: want[0].code, Description: want[0].description, Path: "a"}, {Code: want[1].code, Description: want[1].description, Path: "b"},
		{Code: want[2].code, Description: want[2].description},
	}
	if d := cmp.Diff(refused, x.report.refusals); d != "" {
		t.Errorf("refusals (-want +got):\n%s", d)
	}
	verdicts := []document.Judged{
		{Text: "be brief", Check: "none", Verdict: "unverifiable", Evidence: "a sentence: no pattern reads it as a check"},
		{Text: files, Check: "max_files_changed", Verdict: "fail", Evidence: "2 files changed, at most 1 allowed"},
		{Text: `{"kind":"no_deleted_files"}`, Check: "no_deleted_files", Verdict: "pass", Evidence: "no file was deleted"},
	}
	if d := cmp.Diff(verdicts, x.report.constraints); d != "" {
		t.Errorf("constraints (-want +got):\n%s", d)
	}
}

func TestThePlanListsThePhasesThatRun(t *testing.T) {
	t.Parallel()
	var run []plan.Phase
	for _, ph := range phases {
		run = append(run, plan.Phase{Name: ph.name, BudgetSeconds: int(ph.bound.Seconds())})
	}
	run = append(run, plan.Phase{Name: "settle"})
	if planned := plan.Phases(true); !slices.Equal(planned, run) {
		t.Errorf("planned %v, run %v", planned, run)
	}
}

func TestExit127NamesTheProgramAndTheImage(t *testing.T) {
	t.Parallel()
	code := func(n int) *int { return &n }
	for _, tt := range []struct {
		name, command, stderr string
		code                  *int
		want                  string
	}{
		{"dash", "pytest -q", "/bin/sh: 1: pytest: not found\n", code(127), `; image python:3 has no program "pytest"`},
		{"bash", "cd x && go test ./...", "sh: line 1: go: command not found\r\n", code(127), `; image python:3 has no program "go"`},
		{"busybox", "make", "sh: make: not found\n", code(127), `; image python:3 has no program "make"`},
		{"a name that the box made up", "make", "sh: 1: run-as-root: not found\n", code(127), "; a program that the command starts is not in image python:3"},
		{"silent", "make", "", code(127), "; a program that the command starts is not in image python:3"},
		{"another code", "make", "sh: 1: make: not found\n", code(1), ""},
		{"no code", "make", "sh: 1: make: not found\n", nil, ""},
	} {
		if got := missingProgram(document.CommandRun{Command: tt.command, StderrExcerpt: tt.stderr, ExitCode: tt.code}, "python:3"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What ran over a set-up that the change has outdated can be red, but not green.
func TestGreenCommandsOverAnOutdatedSetupAreUnverifiable(t *testing.T) {
	t.Parallel()
	code := func(n int) document.CommandRun { return document.CommandRun{ExitCode: &n} }
	p := &plan.Plan{Criteria: []document.Criterion{{Command: "green"}, {Command: "red"}},
		Verify: []plan.VerifyCommand{{Command: "green", Criteria: []int{0}}, {Command: "red", Criteria: []int{1}}, {Command: "suggested"}}}
	verified := []verifyOutcome{{VerifyCommand: p.Verify[0], run: code(0)}, {VerifyCommand: p.Verify[1], run: code(0)}, {VerifyCommand: p.Verify[2], run: code(0)}}
	paths := []string{"package.json", "go.mod", "a", "b", "c", "d", "e"}
	for name, tc := range map[string]struct {
		tree     plan.SetupTree
		inputs   []string
		red      bool
		verdicts []string
		passed   any
		status   document.Status
	}{
		"nothing touched":           {plan.SetupOnBase, nil, false, []string{"pass", "pass"}, true, document.StatusSuccess},
		"touched":                   {plan.SetupOnBase, paths, false, []string{"unverifiable", "unverifiable"}, nil, document.StatusPartial},
		"touched and red":           {plan.SetupOnBase, paths, true, []string{"unverifiable", "fail"}, false, document.StatusPartial},
		"set up anew":               {plan.SetupOnCaptured, paths, false, []string{"pass", "pass"}, true, document.StatusSuccess},
		"a plan of another version": {"", paths, false, []string{"unverifiable", "unverifiable"}, nil, document.StatusPartial},
	} {
		p.VerifySetup = tc.tree
		e := evidence{verified: slices.Clone(verified), inputs: tc.inputs}
		if tc.red {
			e.verified[1].run = code(1)
		}
		r := newReport(nil, 0)
		judgeCommands(p, e, true, &r)
		var verdicts []string
		for _, j := range r.acceptance {
			verdicts = append(verdicts, j.Verdict)
		}
		var passed any
		if r.tests.Passed != nil {
			passed = *r.tests.Passed
		}
		if !slices.Equal(verdicts, tc.verdicts) || passed != tc.passed || r.status(true) != tc.status {
			t.Errorf("%s: %v, tests %v, status %s, issues %+v", name, verdicts, passed, r.status(true), r.sorted())
		}
		at := slices.IndexFunc(r.sorted(), func(i document.Issue) bool { return i.Code == document.CodeSetupInput })
		if (at >= 0) != (tc.inputs != nil) || at >= 0 && (!strings.Contains(r.sorted()[at].Description, "and 2 more") || r.sorted()[at].Path != "package.json") {
			t.Errorf("%s: issues %+v", name, r.sorted())
		}
	}
}
