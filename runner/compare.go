package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sandboxrun/runner/box"
	"sandboxrun/runner/check"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/harness"
	"sandboxrun/runner/measure"
	"sandboxrun/runner/plan"
	"sandboxrun/sandbox"
)

// phaseRestored is the part of the verification on the change with the base's tests and configuration.
const phaseRestored = "restored"

// reportBound is how long the reading of a report may take.
const reportBound = 20 * time.Second

// recorded runs a command of the verification with recorders of test runners beside it, where it starts any. What they report is kept
// with the command's phase and text.
func (x *run) recorded(ctx context.Context, b *box.Box, phase, text string) (document.CommandRun, error) {
	if !harness.Judges(text) {
		return x.command(ctx, b, phase, text)
	}
	rec := harness.Record(text, sandbox.TempDir, box.GuestPath, x.manifests...)
	c, err := x.commandAs(ctx, b, phase, text, rec.Argv)
	if err != nil {
		return c, err
	}
	var out bytes.Buffer
	rctx, cancel := context.WithTimeoutCause(ctx, reportBound, errors.New("the report of the test runners could not be read in time"))
	defer cancel()
	_, err = b.Sandbox.Exec(rctx, sandbox.Command{Argv: rec.Read, Stdout: &excerpt.CutWriter{To: &out, Left: harness.MaxReportBytes + 1}})
	switch {
	case ctx.Err() != nil:
		return c, context.Cause(ctx)
	case err != nil: // the box goes now in any case, and a command without a report has its exit code
		x.record.Log.Remark("the report of %q was not read: %v", excerpt.Clip(text, 200), err)
		return c, nil
	}
	if x.reports == nil {
		x.reports = map[string]harness.Report{}
	}
	x.reports[phase+" "+text] = harness.ReadReport(out.Bytes())
	return c, nil
}

// readManifests reads what else decides how runners of the commands report, where a command starts any.
func (x *run) readManifests(ctx context.Context) {
	if !slices.ContainsFunc(x.plan.Verify, func(v plan.VerifyCommand) bool { return harness.Judges(v.Command) }) {
		return
	}
	files := check.NewFiles(x.trees.Objects, x.base.Tree, x.change.snapshot.Tree)
	for _, tree := range []check.Tree{check.Base, check.Captured} {
		if text, err := (check.Evidence{Files: files}).ReadFile(ctx, tree, "package.json"); err == nil {
			x.manifests = append(x.manifests, string(text))
		}
	}
}

// compare runs green commands on the base as well, and where the change touches what decides how they end, on the change with
// what the base has of that. There may be no time for it: then that is known.
func (x *run) compare(ctx context.Context, b *measure.Bench, base *measure.Setup) error {
	e := &x.evidence
	var spent time.Duration
	var texts []string
	for _, v := range e.verified {
		spent += time.Duration(v.run.DurationMS) * time.Millisecond
		if harness.Judges(v.Command) {
			texts = append(texts, v.Command)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	files := check.NewFiles(x.trees.Objects, x.base.Tree, x.change.snapshot.Tree)
	var err error
	e.surface, err = harness.SurfaceOf(ctx, texts, x.change.diff.Changes, func(ctx context.Context, changed bool, name string) ([]byte, error) {
		tree := check.Base
		if changed {
			tree = check.Captured
		}
		return check.Evidence{Files: files}.ReadFile(ctx, tree, name)
	})
	if err != nil {
		return err
	}
	var again []plan.VerifyCommand
	for _, v := range e.verified {
		if r := x.reports[phaseVerify+" "+v.Command]; harness.Judges(v.Command) && v.run.ExitCode != nil && (r.Known() || v.passed() && len(e.surface.Touched) > 0) {
			again = append(again, v.VerifyCommand)
		}
	}
	if len(again) == 0 {
		return nil
	}
	bctx, cancel, enough := timeFor(ctx, spent)
	if !enough {
		e.late = noTime
		return nil
	}
	defer cancel()
	err = x.runAgain(bctx, b, base, again)
	var limit *sandbox.LimitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case errors.Is(err, errLate):
		e.late = noTime
	case errors.As(err, &limit):
		e.late = "a run with what the base has of that reached a limit (" + limit.Error() + ")"
	default:
		return err
	}
	x.record.Log.Remark("the comparison with the base ended early: %v", err)
	return nil
}

// runAgain measures commands on the base, unless that was done, and then those whose surface the change touches with that of the base.
func (x *run) runAgain(ctx context.Context, b *measure.Bench, base *measure.Setup, again []plan.VerifyCommand) (err error) {
	e := &x.evidence
	if base.Tree == nil {
		if *base, err = b.Prepare(ctx, "setup", x.base.Tree, x.plan.Box.SetupAllow); err != nil {
			return err
		}
	}
	if !x.plan.Baseline {
		if e.baselines, err = x.measureThese(ctx, b, "baseline", x.base.Tree, *base, again); err != nil {
			return err
		}
	}
	if len(e.surface.Touched) == 0 {
		return nil
	}
	var green []plan.VerifyCommand
	for _, c := range again {
		for _, v := range e.verified {
			if v.Command == c.Command && v.passed() {
				green = append(green, c)
			}
		}
	}
	if len(green) == 0 {
		return nil
	}
	tree, err := x.trees.Objects.Restore(ctx, x.change.snapshot.Tree, x.base.Tree, e.surface.Touched)
	if err != nil {
		return fmt.Errorf("tests and configuration of the base: %w", err)
	}
	e.restored, err = x.measureThese(ctx, b, phaseRestored, tree, *base, green)
	return err
}

// noTime is why a command was not compared with the base where the clock of the task left too little.
const noTime = "there was no time left to run it with what the base has of that"

// errLate says that the task's clock would have ended before a comparison.
var errLate = errors.New("the clock of the task leaves no more time for a comparison with the base")

// timeFor bounds a comparison, so that it never uses up the clock of the task. It takes about twice what the commands took, and set-up.
func timeFor(ctx context.Context, spent time.Duration) (context.Context, context.CancelFunc, bool) {
	const reserve = 5 * time.Second
	end, bounded := ctx.Deadline()
	if !bounded {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, true
	}
	if time.Until(end) < 2*spent+2*reserve {
		return nil, nil, false
	}
	ctx, cancel := context.WithDeadlineCause(ctx, end.Add(-reserve), errLate)
	return ctx, cancel, true
}

// judgements says what each command of the verification is worth, by its text.
func (e *evidence) judgements() map[string]harness.Judgement {
	find := func(list []verifyOutcome, command string) *harness.Measured {
		for _, v := range list {
			if v.Command == command && v.run.ExitCode != nil {
				return &harness.Measured{Passed: v.passed(), Report: v.report, Output: v.run.StderrExcerpt + "\n" + v.run.StdoutExcerpt}
			}
		}
		return nil
	}
	late := e.late
	if late == "" {
		late = "it was not run with what the base has of that"
	}
	judged := map[string]harness.Judgement{}
	for _, v := range e.verified {
		if now := find(e.verified, v.Command); now != nil && v.ExpectExit == 0 && harness.Judges(v.Command) { // else red tests are what is wanted
			judged[v.Command] = harness.Compare(*now, find(e.baselines, v.Command), find(e.restored, v.Command), e.surface, late)
		}
	}
	return judged
}

// worth adds what a judgement says to the verdict over a command that ended as expected. It returns false where the command does not
// stand for what it seems to.
func (r *report) worth(command string, w harness.Judgement) bool {
	if w.Verdict == harness.Stands {
		return true
	}
	text := fmt.Sprintf("%q: %s", command, w.Why)
	switch {
	case w.NoTests:
		r.add(issue(document.CodeNoTestsRan, text).withSeverity(document.SeverityFlaw))
	case w.Harness:
		r.add(issue(document.CodeHarness, text))
	case w.Verdict == harness.Refuted:
		r.add(issue(document.CodeAcceptanceFailed, text))
	default:
		r.add(issue(document.CodeTestsIncomplete, text))
	}
	return false
}
