package runner

import (
	"context"
	"fmt"
	"strings"

	"sandboxrun/runner/check"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/plan"
)

// judge compares the evidence with the task's constraints and criteria. It is
// never skipped: a run that ended early has verdicts, too.
func judge(ctx context.Context, x *run) error {
	err := x.judgeChange(ctx)
	judgeCommands(x.plan, x.evidence, &x.report)
	return err
}

// judgeChange judges what was captured, if anything was.
func (x *run) judgeChange(ctx context.Context) error {
	if !x.change.captured() {
		return nil
	}
	ev := check.Evidence{Changes: x.change.diff.Changes, Findings: x.change.snapshot.Findings,
		Files: check.NewFiles(x.trees.objects, x.base.Tree, x.change.snapshot.Tree)}
	x.judgeReadOnly()
	if err := x.judgeProtected(ctx, ev); err != nil {
		return err
	}
	return x.judgeConstraints(ctx, ev)
}

// judgeReadOnly fails a run that was to inspect and plan and changed files,
// whatever its agent would have allowed itself.
func (x *run) judgeReadOnly() {
	if x.plan.Agent == nil || !x.plan.Agent.ReadOnly || !x.change.any() {
		return
	}
	changes := x.change.diff.Changes
	x.report.add(issue(document.CodeConstraintViolated, fmt.Sprintf("variant %s changes nothing, but %s differ", x.plan.Agent.Variant, excerpt.Plural(len(changes), "path"))).
		withSeverity(document.SeverityFatal).withPath(changes[0].Path).
		withAction("do not use the change; setup commands of a read-only run must leave tracked files alone"))
}

func (x *run) judgeProtected(ctx context.Context, ev check.Evidence) error {
	if len(x.plan.Protected) == 0 {
		return nil
	}
	v, err := check.Judge(ctx, check.ProtectedPaths(x.plan.Protected), ev)
	if err != nil {
		return fmt.Errorf("judge protected paths: %w", err)
	}
	if v.Verdict == check.Fail {
		x.report.add(issue(document.CodeProtectedPath, v.Evidence).withPath(first(v.Paths)))
	}
	return nil
}

func (x *run) judgeConstraints(ctx context.Context, ev check.Evidence) error {
	for _, c := range x.plan.Constraints {
		k, err := check.New(c.Kind, c.Params)
		if err != nil {
			return fmt.Errorf("judge constraint %s: %w", c.Kind, err)
		}
		v, err := check.Judge(ctx, k, ev)
		if err != nil {
			return fmt.Errorf("judge constraint %s: %w", c.Kind, err)
		}
		j := document.Judged{Text: c.Text, Check: c.Kind, Verdict: string(v.Verdict), Evidence: v.Evidence}
		if c.Kind == "" {
			j.Check = "none"
		}
		x.report.constraints = append(x.report.constraints, j)
		switch v.Verdict {
		case check.Pass:
		case check.Fail:
			x.report.add(issue(document.CodeConstraintViolated, c.Text+": "+v.Evidence).withPath(first(v.Paths)))
		case check.Unverifiable:
			x.report.add(issue(document.CodeConstraintUnverifiable, c.Text+": "+v.Evidence))
		}
	}
	return nil
}

// judgeCommands turns what the verification measured into verdicts. It works
// without a verification too: then nothing was measured, and nothing passes.
func judgeCommands(p *plan.Plan, e evidence, r *report) {
	byCriterion := map[int]verifyOutcome{}
	green, ran := 0, 0
	for _, v := range e.verified {
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
			r.add(issue(document.CodeCommandFailed, fmt.Sprintf("%q exited with %d in a fresh box", v.Command, *v.run.ExitCode)))
		}
	}
	for i, c := range p.Criteria {
		v, measured := byCriterion[i]
		r.acceptance = append(r.acceptance, judgeCriterion(c, v, measured, e.baselines, r))
	}
	r.tests = sumUp(p, e.verified, green, ran, r)
}

func judgeCriterion(c document.Criterion, v verifyOutcome, measured bool, baselines []verifyOutcome, r *report) document.Judged {
	if c.Command == "" {
		return document.Judged{Text: c.Text, Check: "none", Verdict: string(check.Unverifiable), Evidence: "a sentence; nothing here can measure it"}
	}
	j := document.Judged{Text: c.Command, Check: "command", Verdict: string(check.Unverifiable), Evidence: "was not run"}
	switch {
	case !measured || v.run.ExitCode == nil:
		r.add(issue(document.CodeAcceptanceFailed, fmt.Sprintf("%q could not be measured", c.Command)).
			withAction("see the other issues for what ended the run early"))
	case v.passed():
		j.Verdict, j.Evidence = string(check.Pass), fmt.Sprintf("exit %d in a fresh box%s", *v.run.ExitCode, baselineNote(v, baselines))
	default:
		j.Verdict, j.Evidence = string(check.Fail), fmt.Sprintf("exit %d, expected %d, in a fresh box%s", *v.run.ExitCode, v.ExpectExit, baselineNote(v, baselines))
		r.add(issue(document.CodeAcceptanceFailed, fmt.Sprintf("%q: %s", c.Command, j.Evidence)))
	}
	return j
}

// baselineNote says how the same command went on the base commit.
func baselineNote(v verifyOutcome, baselines []verifyOutcome) string {
	for _, b := range baselines {
		if b.Command == v.Command && b.run.ExitCode != nil {
			return fmt.Sprintf("; exit %d on the base commit", *b.run.ExitCode)
		}
	}
	return ""
}

func sumUp(p *plan.Plan, verified []verifyOutcome, green, ran int, r *report) document.Tests {
	total := len(p.Verify)
	if ran == 0 {
		if total > 0 || p.Mode != document.ModeCommand {
			r.add(issue(document.CodeNoTestsRan, "no command was measured in a fresh box"))
		}
		return document.Tests{Details: "no command was measured"}
	}
	passed := green == total
	details := []string{fmt.Sprintf("%d of %d commands as expected in a fresh box", green, total)}
	for _, v := range verified {
		if !v.passed() {
			details = append(details, fmt.Sprintf("%q %s", v.Command, exitText(v.run.ExitCode)))
		}
	}
	return document.Tests{Passed: &passed, Details: strings.Join(details, "; ")}
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
