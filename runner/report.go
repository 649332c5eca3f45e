package runner

import (
	"errors"
	"fmt"
	"syscall"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/internal/floor"
	"sandboxrun/runner/box"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/reader"
	"sandboxrun/runner/record"
	"sandboxrun/sandbox"
)

// report is what a result says besides the change: issues, verdicts, times, and
// what could not be confirmed as removed.
type report struct {
	findings
	verdicts
	timing    map[string]int64 // milliseconds, by phase
	left      []string         // what could not be confirmed as removed
	log       *record.Log
	maxOutput int64 // bytes that all boxes of the run may print together
}

// verdicts is what the checks said.
type verdicts struct {
	constraints, acceptance []document.Judged
	tests                   document.Tests
}

// newReport makes the report of a run that may print so many bytes.
func newReport(l *record.Log, maxOutput int64) report {
	return report{timing: map[string]int64{}, log: l, maxOutput: maxOutput}
}

// setupError is a setup command that failed.
type setupError struct {
	command string
	code    *int
	why     string // begins with a separator; may be empty
}

func (e *setupError) Error() string {
	if e.code == nil {
		return fmt.Sprintf("setup command %q did not end", e.command)
	}
	return fmt.Sprintf("setup command %q exited with %d%s", e.command, *e.code, e.why)
}

// diskFull says that a disk, or a quota of one, has no room left, or no more than it must keep.
func diskFull(err error) bool {
	low := (*floor.LowError)(nil)
	return errors.As(err, &low) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// limitCodes maps the limits of a box to issue codes.
var limitCodes = map[sandbox.Limit]string{
	sandbox.LimitTime:     document.CodeRuntimeLimit,
	sandbox.LimitMemory:   document.CodeMemoryLimit,
	sandbox.LimitPIDs:     document.CodePIDsLimit,
	sandbox.LimitDisk:     document.CodeDiskLimit,
	sandbox.LimitOutput:   document.CodeOutputLimit,
	sandbox.LimitTokens:   document.CodeTokenLimit,
	sandbox.LimitRequests: document.CodeRequestLimit,
}

// fail turns the error of a phase into an issue. The first failure is reported as
// the reason why the run ended; its consequences are not reported again.
func (r *report) fail(phase string, err error) {
	var (
		clean *document.CleanupError
		intr  document.Interrupted
		ended document.Cancelled
		limit *sandbox.LimitError
	)
	again := r.stopped
	r.stopped = true
	failed := func(code string) found {
		i := issue(code, phase+": "+err.Error())
		i.Limit = r.limitReached(err)
		return i
	}
	switch {
	case errors.As(err, &clean):
		r.left = append(r.left, clean.What)
		i := failed(document.CodeCleanupFailed)
		if clean.What == document.LeftLanding {
			i = i.withSeverity(document.SeverityFlaw).withAction("the branch is there and whole; the next landing removes what is left next to it")
		}
		r.add(i)
	case again && (r.limited || r.interrupted):
		// A consequence of the clock or the signal that already ended the work.
	case errors.As(err, &intr):
		r.interrupted = true
		r.add(failed(document.CodeInterrupted))
	case errors.As(err, &ended):
		r.cancel(phase, ended)
	case errors.As(err, &limit):
		r.limited = true
		r.log.Emit(phase, journal.LimitReached{Limit: limit.Limit, Detail: limit.Detail, Reached: r.limitReached(err)})
		r.add(failed(limitCodes[limit.Limit]))
	case phase == phaseLand:
		// What a person can mend there has its own code (landingIssue). The work is there, in the patch.
		r.add(failed(document.CodeLandFailed))
	case diskFull(err):
		r.limited = true
		r.log.Emit(phase, journal.LimitReached{Limit: sandbox.LimitDisk, Detail: err.Error()})
		r.add(failed(document.CodeDiskLimit).withSeverity(document.SeverityFatal).withAction("free space on the disk of the state directory"))
	default:
		code, action := failureCode(err)
		i := failed(code).withSeverity(document.SeverityFatal)
		if action != "" {
			i = i.withAction(action)
		}
		r.add(i)
	}
}

// cancel ends the work because a person asked for it: whatever else happened, nothing lands.
func (r *report) cancel(phase string, c document.Cancelled) {
	r.stopped, r.interrupted = true, true
	r.add(issue(document.CodeCancelled, phase+": "+c.Error()))
}

// failureCode is the code of an error that fails a run, with the action that the
// error itself suggests, if it does.
func failureCode(err error) (code, action string) {
	var (
		gone   *sandbox.UnavailableError
		ended  *sandbox.EndedError
		image  *sandbox.ImageError
		policy *sandbox.PolicyError
		broken *sandbox.EngineError
		lacks  *gitobj.MissingError
		setup  *setupError
		home   *box.HomeError
		budget *gitdiff.BudgetError
		needs  *reader.LimitError
	)
	switch {
	case errors.As(err, &gone):
		return document.CodeEngineLost, ""
	case errors.As(err, &ended):
		return document.CodeBoxEnded, ""
	case errors.As(err, &image):
		return document.CodeImageUnusable, image.Hint
	case errors.As(err, &policy):
		return document.CodePolicyNotApplied, ""
	case errors.As(err, &broken):
		return document.CodeEngineFailed, ""
	case errors.As(err, &lacks):
		return document.CodeObjectsMissing, ""
	case errors.As(err, &setup):
		return document.CodeSetupFailed, ""
	case errors.As(err, &home):
		return document.CodeSetupFailed, "what set-up leaves in HOME is carried over with tar, which the image must have; let set-up write less there"
	case errors.Is(err, gitdiff.ErrTreeUnstable):
		return document.CodeTreeUnstable, ""
	case errors.As(err, &budget), errors.As(err, &needs):
		return document.CodeTreeTooLarge, ""
	}
	return document.CodeRunnerError, ""
}

// limitReached is the part of an issue that says which limit ended a box; nil
// where none did, or nothing was measured. What the boxes of a run print counts
// together, so the share of the last box is not reported.
func (r *report) limitReached(err error) *document.ReachedLimit {
	l, ok := errors.AsType[*sandbox.LimitError](err)
	if !ok || l.Which == "" {
		return nil
	}
	if l.Which == sandbox.MeasureOutput {
		return &document.ReachedLimit{Name: l.Which, Allowed: r.maxOutput, Measured: r.maxOutput + 1}
	}
	return &document.ReachedLimit{Name: l.Which, Allowed: l.Allowed, Measured: l.Measured}
}

// phaseLand is the one phase that writes into the user's repository.
const phaseLand = "land"
