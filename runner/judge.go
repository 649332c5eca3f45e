package runner

import (
	"context"
	"fmt"
	"strings"

	"sandboxrun/runner/check"
)

// judgement is what the checks said.
type judgement struct {
	constraints, acceptance []Judged
	tests                   Tests
}

// judge holds the evidence against the task's constraints and criteria.
func (x *run) judge(ctx context.Context) error {
	ev := check.Evidence{Changes: x.diff.Changes, Findings: x.snapshot.Findings}
	x.judgeReadOnly()
	if err := x.judgeProtected(ctx, ev); err != nil {
		return err
	}
	return x.judgeConstraints(ctx, ev)
}

// judgeReadOnly holds a run that was to look and plan to that, whatever its
// agent would have allowed itself.
func (x *run) judgeReadOnly() {
	if x.plan.Agent == nil || !x.plan.Agent.ReadOnly || len(x.diff.Changes) == 0 {
		return
	}
	x.findings.add(fatal, Issue{Type: IssueConflict, Code: "constraint_violated", Path: x.diff.Changes[0].Path,
		Description:     fmt.Sprintf("variant %s changes nothing, but %s differ", x.plan.Agent.Variant, plural(len(x.diff.Changes), "path")),
		SuggestedAction: "do not use the change; setup commands of a read-only run must leave tracked files alone"})
}

func (x *run) judgeProtected(ctx context.Context, ev check.Evidence) error {
	if len(x.plan.Protected) == 0 {
		return nil
	}
	v, err := check.ProtectedPaths(x.plan.Protected).Check(ctx, ev)
	if err != nil {
		return fmt.Errorf("judge protected paths: %w", err)
	}
	if v.Verdict == check.Fail {
		x.findings.add(flaw, Issue{Type: IssueConflict, Code: "protected_path_modified", Description: v.Evidence,
			Path: first(v.Paths), SuggestedAction: "do not merge these paths, or take them off protected_paths"})
	}
	return nil
}

func (x *run) judgeConstraints(ctx context.Context, ev check.Evidence) error {
	for _, c := range x.plan.Constraints {
		k, err := check.New(c.Kind, c.Params)
		if err != nil {
			return fmt.Errorf("judge constraint %s: %w", c.Kind, err)
		}
		v, err := k.Check(ctx, ev)
		if err != nil {
			return fmt.Errorf("judge constraint %s: %w", c.Kind, err)
		}
		j := Judged{Text: c.Text, Check: c.Kind, Verdict: string(v.Verdict), Evidence: v.Evidence}
		if c.Kind == "" {
			j.Check = "none"
		}
		x.judged.constraints = append(x.judged.constraints, j)
		switch v.Verdict {
		case check.Pass:
		case check.Fail:
			x.findings.add(flaw, Issue{Type: IssueConflict, Code: "constraint_violated", Path: first(v.Paths),
				Description: c.Text + ": " + v.Evidence, SuggestedAction: "reject the change or relax the constraint"})
		case check.Unverifiable:
			x.findings.add(note, Issue{Type: IssueUnclearRequirement, Code: "constraint_unverifiable",
				Description: c.Text + ": " + v.Evidence, SuggestedAction: "check it by hand, or name a check with {\"kind\": …}"})
		}
	}
	return nil
}

// judgeCommands turns what the verification measured into verdicts. It works
// without a verification too: then nothing was measured, and nothing passes.
func (x *run) judgeCommands() {
	byCriterion := map[int]verifyOutcome{}
	green, ran := 0, 0
	for _, v := range x.verified {
		for _, c := range v.Criteria {
			byCriterion[c] = v
		}
		if v.run.ExitCode == nil {
			continue
		}
		ran++
		switch {
		case v.passed():
			green++
		case len(v.Criteria) == 0:
			x.findings.add(flaw, Issue{Type: IssueTestFailure, Code: "command_failed",
				Description:     fmt.Sprintf("%q exited with %d in a fresh box", v.Command, *v.run.ExitCode),
				SuggestedAction: "read the command's output in commands_run and its log"})
		}
	}
	for i, c := range x.plan.Criteria {
		v, measured := byCriterion[i]
		x.judged.acceptance = append(x.judged.acceptance, x.judgeCriterion(c, v, measured))
	}
	x.judged.tests = x.sumUp(green, ran)
}

func (x *run) judgeCriterion(c Criterion, v verifyOutcome, measured bool) Judged {
	if c.Command == "" {
		return Judged{Text: c.Text, Check: "none", Verdict: string(check.Unverifiable), Evidence: "a sentence; nothing here can measure it"}
	}
	j := Judged{Text: c.Command, Check: "command", Verdict: string(check.Unverifiable), Evidence: "was not run"}
	switch {
	case !measured || v.run.ExitCode == nil:
		x.findings.add(flaw, Issue{Type: IssueTestFailure, Code: "acceptance_failed",
			Description: fmt.Sprintf("%q could not be measured", c.Command), SuggestedAction: "see the other issues for what ended the run early"})
	case v.passed():
		j.Verdict, j.Evidence = string(check.Pass), fmt.Sprintf("exit %d in a fresh box%s", *v.run.ExitCode, x.baselineNote(v))
	default:
		j.Verdict, j.Evidence = string(check.Fail), fmt.Sprintf("exit %d, expected %d, in a fresh box%s", *v.run.ExitCode, v.ExpectExit, x.baselineNote(v))
		x.findings.add(flaw, Issue{Type: IssueTestFailure, Code: "acceptance_failed",
			Description:     fmt.Sprintf("%q: %s", c.Command, j.Evidence),
			SuggestedAction: "read the command's output in commands_run and its log"})
	}
	return j
}

// baselineNote says how the same command went on the base commit.
func (x *run) baselineNote(v verifyOutcome) string {
	for _, b := range x.baselines {
		if b.Command == v.Command && b.run.ExitCode != nil {
			return fmt.Sprintf("; exit %d on the base commit", *b.run.ExitCode)
		}
	}
	return ""
}

func (x *run) sumUp(green, ran int) Tests {
	total := len(x.plan.Verify)
	if ran == 0 {
		if total > 0 || x.plan.Mode != ModeCommand {
			x.findings.add(note, Issue{Type: IssueUnclearRequirement, Code: "no_tests_ran",
				Description: "no command was measured in a fresh box", SuggestedAction: "name commands in acceptance_criteria or suggested_commands"})
		}
		return Tests{Details: "no command was measured"}
	}
	passed := green == total
	details := []string{fmt.Sprintf("%d of %d commands as expected in a fresh box", green, total)}
	for _, v := range x.verified {
		if !v.passed() {
			details = append(details, fmt.Sprintf("%q %s", v.Command, exitText(v.run.ExitCode)))
		}
	}
	return Tests{Passed: &passed, Details: strings.Join(details, "; ")}
}

func exitText(code *int) string {
	if code == nil {
		return "did not end"
	}
	return fmt.Sprintf("exited with %d", *code)
}

func first(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return paths[0]
}
