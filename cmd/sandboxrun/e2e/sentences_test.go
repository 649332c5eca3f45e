package e2e

import (
	"testing"

	"sandboxrun/runner/document"
)

// What a task demands in words is measured where it is read, and reported where it is not.
func TestSentencesOfATaskAreMeasured(t *testing.T) { //nolint:tparallel // they share one state directory
	t.Parallel()
	rig := newRig(t)
	for _, tt := range []struct {
		name        string
		constraints []any
		criteria    []any
		want        []string // verdicts of the constraints, then of the criteria
		code        string
		status      document.Status
	}{
		{"all of it holds", []any{"不要删除任何文件", "Only change `sum.sh`."}, []any{"`sh test.sh` 通过"}, []string{"pass", "pass", "pass"}, "", document.StatusSuccess},
		{"one is violated", []any{"Leave `sum.sh` alone, and write clear comments"}, []any{"`sh test.sh` exits with 0"}, []string{"fail", "pass"}, "constraint_violated", document.StatusPartial},
		{"one is not read", []any{"尽量不要修改 `sum.sh`"}, []any{"`sh test.sh` passes", "The script is fast"}, []string{"unverifiable", "pass", "unverifiable"}, "criterion_unverifiable", document.StatusPartial},
	} {
		t.Run(tt.name, func(t *testing.T) {
			task := newRepo(t, sample).task(mend)
			task["constraints"], task["acceptance_criteria"] = tt.constraints, tt.criteria
			res, o := rig.execute(task)
			var got []string
			for _, j := range append(append([]document.Judged{}, res.Constraints...), res.Acceptance...) {
				got = append(got, j.Verdict)
			}
			if len(got) != len(tt.want) || res.Status != tt.status || tt.code != "" && !hasCode(res, tt.code) {
				t.Fatalf("exit %d, %s, verdicts %v, want %v\n%+v", o.exit, res.Status, got, tt.want, res.Issues)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("verdicts %v, want %v\n%+v\n%+v", got, tt.want, res.Constraints, res.Acceptance)
				}
			}
			if tt.code == "" {
				return
			}
			task["strict"] = true
			if doc, exit := rig.refuse(marshal(t, task)); exit != document.ExitInput || doc.Error.Type != "invalid_input" || len(doc.Error.Details) == 0 {
				t.Errorf("strict: exit %d, %+v", exit, doc)
			}
		})
	}
}
