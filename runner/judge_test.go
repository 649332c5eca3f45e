package runner

import (
	"slices"
	"testing"

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
	if !slices.Equal(verdicts, []string{"unverifiable", "unverifiable"}) || !slices.Equal(codes, []string{document.CodeAcceptanceFailed, document.CodeNoTestsRan}) || x.report.tests.Passed != nil {
		t.Errorf("verdicts %v, codes %v, tests %+v", verdicts, codes, x.report.tests)
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
