package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sandboxrun/runner/check"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/reading"
)

// judgeSentences judges the constraints and criteria in words by what they were read as, and puts the verdicts between those over
// objects, in the order of the task. Commands must have been judged before.
func (x *run) judgeSentences(ctx context.Context) error {
	j := &sentenceJudge{x: x, commands: map[string]document.Judged{}}
	if x.change.captured() {
		var all []document.Judged
		objects := x.report.constraints
		for i, c := range x.plan.Constraints {
			switch {
			case c.Kind == "":
				v, err := j.judge(ctx, x.plan.ReadingOfConstraint(i), false)
				if err != nil {
					return err
				}
				all = append(all, v)
			case len(objects) > 0:
				all, objects = append(all, objects[0]), objects[1:]
			}
		}
		x.report.constraints = all
	}
	var all []document.Judged
	objects := x.report.acceptance
	for _, o := range objects {
		j.commands[o.Text] = o
	}
	for i, c := range x.plan.Criteria {
		if c.Command != "" {
			all, objects = append(all, objects[0]), objects[1:]
			continue
		}
		v, err := j.judge(ctx, x.plan.ReadingOfCriterion(i), true)
		if err != nil {
			return err
		}
		all = append(all, v)
	}
	x.report.acceptance = all
	return nil
}

// sentenceJudge judges the sentences of one run. commands are the verdicts over commands that were reported before, so that none is
// reported twice.
type sentenceJudge struct {
	x        *run
	commands map[string]document.Judged
}

// judge gives a sentence the worst verdict of its checks. Words that nothing covers make a pass unverifiable, and a violation is one
// whatever they say.
func (j *sentenceJudge) judge(ctx context.Context, r reading.Reading, criterion bool) (document.Judged, error) {
	out := document.Judged{Text: r.Text, Check: "none", Verdict: string(check.Unverifiable), Evidence: "a sentence: " + r.Why()}
	if len(r.Checks) == 0 {
		j.unclear(r, criterion)
		return out, nil
	}
	var kinds, evidence []string
	worst := check.Pass
	for _, c := range r.Checks {
		v, err := j.judgeCheck(ctx, r, c, criterion)
		if err != nil {
			return out, fmt.Errorf("judge %s: %w", r.Pointer, err)
		}
		kind := c.Kind
		if c.Command != "" {
			kind = "command"
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		out.Checks = append(out.Checks, v)
		evidence = append(evidence, fmt.Sprintf("%q read as %s: %s", excerpt.Clip(c.Words, 300), c.Object(), v.Evidence))
		worst = graver(worst, check.Outcome(v.Verdict))
	}
	if r.Rest != "" {
		worst = graver(worst, check.Unverifiable)
		evidence = append(evidence, fmt.Sprintf("nothing measures the words %q", excerpt.Clip(r.Rest, 300)))
	}
	out.Check, out.Verdict, out.Rest = strings.Join(kinds, ", "), string(worst), r.Rest
	out.Evidence = excerpt.Clip(strings.Join(evidence, "; "), 4000)
	if !r.Whole() && worst != check.Fail {
		j.unclear(r, criterion)
	}
	return out, nil
}

// graver is the worse of two verdicts.
func graver(a, b check.Outcome) check.Outcome {
	rank := []check.Outcome{check.Pass, check.Unverifiable, check.Fail}
	return rank[max(slices.Index(rank, a), slices.Index(rank, b))]
}

// judgeCheck judges one check of a sentence, and reports what is wrong.
func (j *sentenceJudge) judgeCheck(ctx context.Context, r reading.Reading, c reading.Check, criterion bool) (document.JudgedCheck, error) {
	out := document.JudgedCheck{Kind: c.Kind, Params: c.Params, Command: c.Command, ExpectExit: c.ExpectExit, Words: c.Words, Verdict: string(check.Unverifiable)}
	switch {
	case c.Command != "":
		v := j.judgeCommand(c)
		out.Verdict, out.Evidence = v.Verdict, v.Evidence
		return out, nil
	case c.Unmeasured != "":
		out.Evidence = c.Unmeasured
		return out, nil
	case !j.x.change.captured():
		out.Evidence = "the change was not captured"
		return out, nil
	}
	k, err := check.New(c.Kind, c.Object())
	if err != nil {
		out.Evidence = fmt.Sprintf("this version does not measure %s", c.Object())
		return out, nil //nolint:nilerr // what cannot be measured is a verdict
	}
	v, err := check.Judge(ctx, k, j.x.changeEvidence())
	if err != nil {
		return out, err
	}
	out.Verdict, out.Evidence = string(v.Verdict), v.Evidence
	text := fmt.Sprintf("%s: %s", excerpt.Clip(r.Text, 1000), v.Evidence)
	switch v.Verdict {
	case check.Pass:
	case check.Fail:
		j.x.report.add(issue(document.CodeConstraintViolated, text).withPath(first(v.Paths)))
	case check.Unverifiable:
		j.x.report.add(issue(unverifiableCode(criterion), text).withAction("read the change with this in mind: " + string(c.Object()) + " could not be judged"))
	}
	return out, nil
}

// judgeCommand judges a command once, however many sentences and objects name it.
func (j *sentenceJudge) judgeCommand(c reading.Check) document.Judged {
	if v, known := j.commands[c.Command]; known {
		return v
	}
	var outcome verifyOutcome
	measured := false
	for _, v := range j.x.evidence.verified {
		if v.Command == c.Command {
			outcome, measured = v, true
		}
	}
	v := judgeCriterion(document.Criterion{Command: c.Command, ExpectExit: c.Exit()}, outcome, measured, j.x.evidence.baselines, &j.x.report)
	j.commands[c.Command] = v
	return v
}

func unverifiableCode(criterion bool) string {
	if criterion {
		return document.CodeCriterionUnverifiable
	}
	return document.CodeConstraintUnverifiable
}

// unclear reports a sentence that is not measured as a whole, with an object to put in its place.
func (j *sentenceJudge) unclear(r reading.Reading, criterion bool) {
	i := issue(unverifiableCode(criterion), fmt.Sprintf("%s %q: %s", r.Pointer, excerpt.Clip(r.Text, 500), r.Why()))
	object := reading.Suggest(r.Text, reading.Hints{Criterion: criterion, Commands: suggested(j.x.plan)})
	switch {
	case plan.Contradicts(r):
		i = issue(document.CodeContradiction, fmt.Sprintf("%s %q: %s", r.Pointer, excerpt.Clip(r.Text, 500), r.Reason))
	case criterion && document.Criterion{Text: r.Text}.LooksLikeCommand():
		i = issue(document.CodeCriterionText, fmt.Sprintf("%q was not run, because it is a sentence of acceptance_criteria", r.Text)).
			withAction(fmt.Sprintf("write it as {\"command\": %q}", r.Text))
	case criterion:
		i = i.withAction("put a command in its place that shows it, such as " + string(object))
	default:
		i = i.withAction("put an object in its place, or beside it, that names a check, such as " + string(object) + "; or check it by hand")
	}
	j.x.report.add(i)
}

// suggested are the commands of a plan, those of the caller's objects first.
func suggested(p *plan.Plan) (list []string) {
	for _, v := range p.Verify {
		list = append(list, v.Command)
	}
	return list
}
