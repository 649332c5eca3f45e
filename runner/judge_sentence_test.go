package runner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/runner/box"
	"sandboxrun/runner/check"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
)

// Each sentence is judged by what it was read as: the worst verdict counts, words that nothing measures make a pass unverifiable, and a
// violation is one whatever they say.
func TestSentencesAreJudgedByTheirReadings(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"src/a": "1\n", "docs/b": "1\n", "gone": "1\n"})
	base := b.Head(t)
	gitdifftest.WriteFiles(t, b.Dir, map[string]string{"src/a": "2\n"})
	b.Git(t, "rm", "-q", "gone")
	b.Git(t, "add", "-A")
	tree := b.Git(t, "write-tree")
	diff, err := change.Compare(t.Context(), b.Objects, base.Tree, tree)
	gitdifftest.Must(t, err)

	type want struct {
		verdict check.Outcome
		check   string
		codes   []string // of its issues
	}
	constraint := map[string]want{
		"Change at most 3 files":                           {check.Pass, "max_files_changed", nil},
		"Do not delete files":                              {check.Fail, "no_deleted_files", []string{"constraint_violated"}},
		"Do not modify `docs/` and change at most 2 files": {check.Pass, "paths_forbidden, max_files_changed", nil},
		"Change at most 3 files and do not delete files":   {check.Fail, "max_files_changed, no_deleted_files", []string{"constraint_violated"}},
		"Change at most 3 files and write clear comments":  {check.Unverifiable, "max_files_changed", []string{"constraint_unverifiable"}},
		"Do not delete files and write clear comments":     {check.Fail, "no_deleted_files", []string{"constraint_violated"}},
		"Do not delete files unless they are empty":        {check.Unverifiable, "none", []string{"constraint_unverifiable"}},
		"Be nice":            {check.Unverifiable, "none", []string{"constraint_unverifiable"}},
		"`make good` passes": {check.Pass, "command", nil},
		"`make bad` passes and `make good` passes":          {check.Fail, "command", []string{"acceptance_failed"}},
		"`make stuck` passes":                               {check.Unverifiable, "command", []string{"acceptance_failed"}},
		"Do not change `src/`, and `make bad` exits with 2": {check.Fail, "paths_forbidden, command", []string{"constraint_violated"}},
	}
	criterion := map[string]want{
		"Be nice":                   {check.Unverifiable, "none", []string{"criterion_unverifiable"}},
		"`make good` passes":        {check.Pass, "command", nil},
		"`make bad` exits with 2":   {check.Pass, "command", nil},
		"Do not delete files":       {check.Fail, "no_deleted_files", []string{"constraint_violated"}},
		"make good":                 {check.Unverifiable, "none", []string{"criterion_is_text"}},
		"Change at most two files.": {check.Pass, "max_files_changed", nil},
	}
	judgeAlone := func(sentence string, criterion bool) (document.Judged, []found) {
		task := &document.Task{Objective: "x", Instructions: "y", ExecutionMode: document.ModeCommand, Context: document.TaskContext{RepoRoot: b.Dir}}
		if criterion {
			task.AcceptanceCriteria = []document.Criterion{{Text: sentence}}
		} else {
			task.Constraints = []document.Constraint{{Text: sentence}}
		}
		p, err := plan.Compile(task, config.Default(), plan.Overrides{})
		gitdifftest.Must(t, err)
		x := &run{facts: facts{plan: p, base: base, report: newReport(nil, 0)}, trees: box.Trees{Objects: b.Objects}}
		x.change = captured{diff: diff, snapshot: &capture.Snapshot{Tree: tree}}
		for _, v := range p.Verify {
			outcome := verifyOutcome{VerifyCommand: v}
			outcome.run.Command = v.Command
			if code := map[string]int{"make good": 0, "make bad": 2}; v.Command != "make stuck" {
				exit := code[v.Command]
				outcome.run.ExitCode = &exit
			}
			x.evidence.verified = append(x.evidence.verified, outcome)
		}
		x.evidence.late = "not compared here"
		gitdifftest.Must(t, judge(t.Context(), x))
		list := slices.Concat(x.report.constraints, x.report.acceptance)
		if len(list) != 1 {
			t.Fatalf("%q: judged %+v", sentence, list)
		}
		return list[0], x.report.list
	}
	for isCriterion, table := range map[bool]map[string]want{false: constraint, true: criterion} {
		for sentence, w := range table {
			j, issues := judgeAlone(sentence, isCriterion)
			var codes []string
			for _, i := range issues {
				if i.Code != document.CodeNoTestsRan && i.Code != document.CodeTestsIncomplete {
					codes = append(codes, i.Code)
				}
				if strings.HasSuffix(i.Code, "_unverifiable") {
					checkPasted(t, i, isCriterion)
				}
			}
			if j.Verdict != string(w.verdict) || j.Check != w.check || !slices.Equal(codes, w.codes) || j.Text != sentence || j.Evidence == "" {
				t.Errorf("%q, criterion %t: %+v, issues %v, want %+v", sentence, isCriterion, j, codes, w)
			}
		}
	}
}

// checkPasted tries the object that an issue proposes in a task.
func checkPasted(t *testing.T, i found, criterion bool) {
	t.Helper()
	begin, end := strings.Index(i.SuggestedAction, "{"), strings.LastIndex(i.SuggestedAction, "}")
	if begin < 0 || !json.Valid([]byte(i.SuggestedAction[begin:end+1])) || i.Type != document.IssueUnclearRequirement {
		t.Errorf("%s %q proposes no object", i.Type, i.SuggestedAction)
		return
	}
	field := "constraints"
	if criterion {
		field = "acceptance_criteria"
	}
	task := fmt.Sprintf(`{"objective":"x","instructions":"y","context":{"repo_root":"/srv"},%q:[%s]}`, field, i.SuggestedAction[begin:end+1])
	if _, err := document.Decode([]byte(task)); err != nil {
		t.Errorf("%s: %v", task, err)
	}
}
