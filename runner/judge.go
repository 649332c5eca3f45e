package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"sandboxrun/runner/check"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/harness"
	"sandboxrun/runner/plan"
)

// judge compares the evidence with the task's constraints and criteria. It is
// never skipped: a run that ended early has verdicts, too.
func judge(ctx context.Context, x *run) error {
	x.evidence.refused = x.boxes.Usage.Names()
	err := x.judgeChange(ctx)
	judgeCommands(x.plan, x.evidence, x.change.any(), &x.report)
	return errors.Join(err, x.judgeSentences(ctx))
}

// requirement is one thing that a change is judged by.
type requirement struct {
	text       string // what is required
	check      check.Check
	violated   func(check.Verdict) found // the issue of a change that fails
	constraint *document.Constraint      // nil for what the task or the variant requires in another way
}

// requirements lists what the change of a plan is judged by; verified says that
// commands were measured.
func requirements(p *plan.Plan, verified bool) ([]requirement, error) {
	note := ""
	if verified {
		note = "; commands of the verification found them as in the base commit"
	}
	var list []requirement
	if p.Agent != nil && p.Agent.ReadOnly { // whatever its agent would have allowed itself
		text := fmt.Sprintf("variant %s changes nothing", p.Agent.Variant)
		list = append(list, requirement{text: text, check: check.ReadOnly(), violated: func(v check.Verdict) found {
			return issue(document.CodeConstraintViolated, text+", but "+v.Evidence).withSeverity(document.SeverityFatal).
				withAction("do not use the change; setup commands of a read-only run must leave tracked files alone")
		}})
	}
	if len(p.Protected) > 0 {
		list = append(list, requirement{text: "protected paths do not change", check: check.ProtectedPaths(p.Protected),
			violated: func(v check.Verdict) found { return issue(document.CodeProtectedPath, v.Evidence+note) }})
	}
	for i, c := range p.Constraints {
		if c.Kind == "" {
			continue // judged by its reading
		}
		k, err := check.New(c.Kind, c.Params)
		if err != nil {
			return nil, fmt.Errorf("constraint %s: %w", c.Text, err)
		}
		list = append(list, requirement{text: c.Text, check: k, constraint: &p.Constraints[i],
			violated: func(v check.Verdict) found { return issue(document.CodeConstraintViolated, c.Text+": "+v.Evidence) }})
	}
	return list, nil
}

// judgeChange judges what was captured, if anything was.
func (x *run) judgeChange(ctx context.Context) error {
	if !x.change.captured() {
		return nil
	}
	list, err := requirements(x.plan, len(x.evidence.verified) > 0)
	if err != nil {
		return fmt.Errorf("judge change: %w", err)
	}
	ev := x.changeEvidence()
	for _, one := range list {
		v, err := check.Judge(ctx, one.check, ev)
		if err != nil {
			return fmt.Errorf("judge change: %s: %w", one.text, err)
		}
		x.report.judged(one, v)
	}
	return nil
}

// changeEvidence is what checks judge a captured change by; all that are made of it share one budget.
func (x *run) changeEvidence() check.Evidence {
	if x.files == nil {
		x.files = check.NewFiles(x.trees.Objects, x.base.Tree, x.change.snapshot.Tree)
	}
	return check.Evidence{Changes: x.change.diff.Changes, Findings: x.change.snapshot.Findings, Files: x.files, Secrets: x.change.secrets(), GoAPI: x.evidence.goAPI}
}

// judged records a verdict over the change.
func (r *report) judged(one requirement, v check.Verdict) {
	if c := one.constraint; c != nil {
		r.constraints = append(r.constraints, document.Judged{Text: c.Text, Check: c.Kind, Verdict: string(v.Verdict), Evidence: v.Evidence})
	}
	switch v.Verdict {
	case check.Pass:
	case check.Fail:
		r.add(one.violated(v).withPath(first(v.Paths)))
	case check.Unverifiable:
		r.add(issue(document.CodeConstraintUnverifiable, one.text+": "+v.Evidence))
	}
}

// judgeCommands turns what the verification measured into verdicts. It works
// without a verification too: then nothing was measured, and nothing passes.
func judgeCommands(p *plan.Plan, e evidence, changed bool, r *report) {
	byCriterion := map[int]verifyOutcome{}
	worth := e.judgements()
	stale := judgeInputs(p, e, r)
	green, ran := 0, 0
	for i := range e.verified {
		v := &e.verified[i]
		v.stale, v.worth = stale, worth[v.Command]
		v.cause = causeOf(v.run, v.report.Count(harness.Failed) > 0, p.Box.Image, e.refused)
		for _, c := range v.Criteria {
			byCriterion[c] = *v
		}
		if v.run.ExitCode == nil {
			continue
		}
		ran++
		switch {
		case v.passed() && r.worth(v.Command, v.worth):
			green++
		case v.passed():
		case len(v.Criteria)+len(v.Readings) == 0:
			r.add(issue(document.CodeCommandFailed, fmt.Sprintf("%q exited with %d in a fresh box%s", v.Command, *v.run.ExitCode,
				v.cause.what)).of(v.cause))
		}
	}
	for i, c := range p.Criteria {
		if c.Command == "" {
			continue // judged by its reading
		}
		v, measured := byCriterion[i]
		r.acceptance = append(r.acceptance, judgeCriterion(c, v, measured, e.baselines, r))
	}
	r.tests = sumUp(p, e.verified, green, ran, changed, r)
}

func judgeCriterion(c document.Criterion, v verifyOutcome, measured bool, baselines []verifyOutcome, r *report) document.Judged {
	j := document.Judged{Text: c.Command, Check: "command", Verdict: string(check.Unverifiable), Evidence: "was not run"}
	switch {
	case !measured || v.run.ExitCode == nil:
		r.add(issue(document.CodeAcceptanceFailed, fmt.Sprintf("%q could not be measured", c.Command)).
			withAction("see the other issues for what ended the run early"))
	case v.passed() && v.worth.Verdict != harness.Stands:
		j.Evidence = fmt.Sprintf("exit %d in a fresh box, but %s", *v.run.ExitCode, v.worth.Why)
		if v.worth.Verdict == harness.Refuted {
			j.Verdict = string(check.Fail)
		}
	case v.passed() && v.stale:
		j.Evidence = fmt.Sprintf("exit %d in a fresh box%s", *v.run.ExitCode, staleNote)
	case v.passed():
		j.Verdict, j.Evidence = string(check.Pass), fmt.Sprintf("exit %d in a fresh box%s%s", *v.run.ExitCode, baselineNote(v, baselines), v.worthNote())
	default:
		j.Verdict, j.Evidence = string(check.Fail), fmt.Sprintf("exit %d, expected %d, in a fresh box%s%s", *v.run.ExitCode, v.ExpectExit,
			baselineNote(v, baselines), v.cause.what)
		r.add(issue(document.CodeAcceptanceFailed, fmt.Sprintf("%q: %s", c.Command, j.Evidence)).of(v.cause))
	}
	return j
}

// notFound is the message of a shell about a program that is not there.
var notFound = regexp.MustCompile(`(?m)^(?:/bin/)?(?:sh|bash|dash|ash): (?:(?:line )?\d+: )?([A-Za-z0-9][A-Za-z0-9._+-]{0,63}): (?:command )?not found\r?$`)

// missingProgram says of a command that ended with the code of a missing program which one is in which image not. The
// box wrote the message, so a name that is not in the command itself is not repeated.
func missingProgram(c document.CommandRun, image string) string {
	const codeNotFound = 127 // of every shell of POSIX
	if c.ExitCode == nil || *c.ExitCode != codeNotFound {
		return ""
	}
	for _, m := range notFound.FindAllStringSubmatch(c.StderrExcerpt, 100) {
		if strings.Contains(c.Command, m[1]) {
			return fmt.Sprintf("; image %s has no program %q", image, m[1])
		}
	}
	return "; a program that the command starts is not in image " + image
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

func sumUp(p *plan.Plan, verified []verifyOutcome, green, ran int, changed bool, r *report) document.Tests {
	total := len(p.Verify)
	if ran == 0 {
		if total > 0 || p.Mode != document.ModeCommand {
			r.add(issue(document.CodeNoTestsRan, "no command was measured in a fresh box").withSeverity(unmeasured(p, changed)))
		}
		return document.Tests{Details: "no command was measured"}
	}
	passed, stale, red := green == total, verified[0].stale, false
	details := []string{fmt.Sprintf("%d of %d commands as expected in a fresh box", green, total)}
	unproven := false
	for _, v := range verified {
		switch {
		case !v.passed():
			details = append(details, fmt.Sprintf("%q %s", v.Command, exitText(v.run.ExitCode)))
		case v.worth.Verdict != harness.Stands:
			details = append(details, fmt.Sprintf("%q ended as expected, but %s", v.Command, v.worth.Why))
		}
		if v.worth.Tests != "" {
			details = append(details, fmt.Sprintf("%q: %s", v.Command, v.worth.Tests))
		}
		unproven = unproven || v.passed() && v.worth.Verdict == harness.Unproven
		red = red || !v.passed() || v.worth.Verdict == harness.Refuted
	}
	text := strings.Join(details, "; ")
	if stale {
		text += staleNote
	}
	if stale && passed || unproven && !red {
		return document.Tests{Details: text}
	}
	return document.Tests{Passed: &passed, Details: text}
}

// unmeasured is how grave it is that nothing was measured: an agent that was to write code and changed nothing has
// nothing to show for itself but its word.
func unmeasured(p *plan.Plan, changed bool) document.Severity {
	if p.Mode == document.ModeCode && !changed && p.Agent != nil && !p.Agent.ReadOnly {
		return document.SeverityFlaw
	}
	return document.SeverityNote
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

// staleNote ends the evidence of commands that ran over a set-up which the change has outdated.
const staleNote = ", over set-up of the base commit, while the change touches what set-up reads"

// judgeInputs reports changed inputs of set-up, and says whether what was
// measured over the set-up of the base tells nothing of a pass.
func judgeInputs(p *plan.Plan, e evidence, r *report) (stale bool) {
	if len(e.inputs) == 0 || len(e.verified) == 0 {
		return false
	}
	text := "the change touches what set-up reads: " + shortList(e.inputs)
	if p.VerifySetup == plan.SetupOnCaptured {
		hosts := "no host"
		if len(p.Box.VerifyAllow) > 0 {
			hosts = excerpt.Clip(strings.Join(p.Box.VerifyAllow, ", "), 500)
		}
		r.add(issue(document.CodeSetupInput, text+"; set-up of the verification ran on the change, with "+hosts+" open").withPath(e.inputs[0]).
			withSeverity(document.SeverityNote).withAction("read these files: their code ran before the commands that judge the change"))
		return false
	}
	r.add(issue(document.CodeSetupInput, text+"; the verification ran over set-up of the base commit").withPath(e.inputs[0]))
	return true
}

// shortList names the first few of many paths.
func shortList(paths []string) string {
	const most = 5
	text := excerpt.Clip(excerpt.Printable(strings.Join(paths[:min(len(paths), most)], ", ")), 1000)
	if n := len(paths) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
