package runner

import (
	"errors"
	"fmt"
	"syscall"

	"sandboxrun/gitdiff"
	"sandboxrun/sandbox"
)

// Issue codes of the runner that the contract's list does not have.
const (
	CodeInterrupted      = "interrupted"        // stopped by a signal
	CodeImageUnusable    = "image_unusable"     // the image went away or cannot run a box
	CodeEngineFailed     = "engine_failed"      // the engine answered with an error of its own, or with nonsense
	CodeBoxEnded         = "box_ended"          // the main process of the box ended before its time
	CodePolicyNotApplied = "policy_not_applied" // the engine made a weaker box than asked
	CodeRunnerError      = "runner_error"       // a failure of this program
	CodeRunnerLost       = "runner_lost"        // the runner died; settled by a later one
	CodeTreeTooLarge     = "tree_too_large"     // the tree left by the work exceeds the capture's budget
	CodeJournalLost      = "journal_lost"       // events could not be written down
	CodeIssuesOmitted    = "issues_omitted"     // more was found than a result lists
	CodeSessionLost      = "session_lost"       // a conversation could not be kept or restored
	CodeLandFailed       = "land_failed"        // the change could not be brought into the user's repository
	CodeObjectsMissing   = "objects_missing"    // the user's repository lacks, or lost, objects of the base commit
	CodeDirtyTree        = "dirty_tree"         // the user has uncommitted changes the run did not see
)

// setupError is a setup command that failed.
type setupError struct {
	command string
	code    *int
}

func (e *setupError) Error() string {
	if e.code == nil {
		return fmt.Sprintf("setup command %q did not end", e.command)
	}
	return fmt.Sprintf("setup command %q exited with %d", e.command, *e.code)
}

// leftBox is what a cleanupError names for a box: it may still run.
const leftBox = "box"

// leftLanding is what a cleanupError names for what the making of a branch left
// in the user's repository: nothing there depends on it.
const leftLanding = "landing"

// cleanupError is a box or tree whose removal could not be confirmed.
type cleanupError struct {
	what string
	err  error
}

func (e *cleanupError) Error() string { return fmt.Sprintf("remove %s: %v", e.what, e.err) }
func (e *cleanupError) Unwrap() error { return e.err }

// diskFull says that a disk, or a quota of one, has no room left.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// limitCodes maps the limits of a box to issue codes.
var limitCodes = map[sandbox.Limit]string{
	sandbox.LimitTime:   "runtime_limit",
	sandbox.LimitMemory: "memory_limit",
	sandbox.LimitPIDs:   "pids_limit",
	sandbox.LimitDisk:   "disk_limit",
	sandbox.LimitOutput: "output_limit",
}

// fail turns the error of a phase into an issue. The first failure decides what
// the run is told to have died of; its consequences are not reported again.
func (x *run) fail(phase string, err error) {
	var (
		limit  *sandbox.LimitError
		gone   *sandbox.UnavailableError
		broken *sandbox.EngineError
		image  *sandbox.ImageError
		policy *sandbox.PolicyError
		intr   Interrupted
		lacks  *gitdiff.MissingObjectError
		setup  *setupError
		clean  *cleanupError
		budget *gitdiff.BudgetError
		ended  *sandbox.EndedError
	)
	again := x.findings.stopped
	x.findings.stopped = true
	env := func(s severity, code, action string) {
		x.findings.add(s, Issue{Type: IssueEnv, Code: code, Description: phase + ": " + err.Error(), SuggestedAction: action, Limit: x.limitReached(err)})
	}
	switch {
	case errors.As(err, &clean):
		x.cleanup = append(x.cleanup, clean.what)
		if clean.what == leftLanding {
			env(flaw, "cleanup_failed", "the branch is there and whole; the next landing clears away what is left beside it")
			break
		}
		env(fatal, "cleanup_failed", "run \"sandboxrun reap\" when the engine answers again")
	case again && (x.findings.limited || x.findings.interrupted):
		// An echo: the clock or the signal that already ended the work.
	case errors.As(err, &intr):
		x.findings.interrupted = true
		env(flaw, CodeInterrupted, "run the task again; what was done so far is in the patch")
	case errors.As(err, &limit):
		x.findings.limited = true
		x.log.emit(phase, EventLimitReached, map[string]any{"limit": limit.Limit, "detail": limit.Detail, "reached": x.limitReached(err)})
		env(fruitless, limitCodes[limit.Limit], "raise the limit or make the task smaller")
	case phase == phaseLand:
		// What a person can mend there has its own code (failLanding). The work is there, in the patch.
		env(flaw, CodeLandFailed, "look whether the repository and the base commit are still there; the change is kept in the patch")
	case diskFull(err):
		x.findings.limited = true
		x.log.emit(phase, EventLimitReached, map[string]any{"limit": sandbox.LimitDisk, "detail": err.Error()})
		env(fatal, "disk_limit", "free space on the disk of the state directory")
	case errors.As(err, &gone):
		env(fatal, "engine_lost", "see \"sandboxrun doctor\", then run the task again")
	case errors.As(err, &ended):
		env(fatal, CodeBoxEnded, "somebody removed the box, or the image cannot run on this machine")
	case errors.As(err, &image):
		env(fatal, CodeImageUnusable, image.Hint)
	case errors.As(err, &policy):
		env(fatal, CodePolicyNotApplied, "see \"sandboxrun doctor\"; the engine does not keep what was asked of it")
	case errors.As(err, &broken):
		env(fatal, CodeEngineFailed, "look at the engine's log and at \"sandboxrun doctor\", then run the task again")
	case errors.As(err, &lacks):
		env(fatal, CodeObjectsMissing, "look whether the repository is still there and whole (git fsck), then run the task again")
	case errors.As(err, &setup):
		env(fatal, "setup_failed", "look at the command's log; the hosts it needs belong in box.network.allow")
	case errors.Is(err, gitdiff.ErrTreeUnstable):
		env(fatal, string(gitdiff.TreeUnstable), "see \"sandboxrun doctor\": something outside the box writes to the state directory")
	case errors.As(err, &budget):
		env(fatal, CodeTreeTooLarge, "have the work write its litter to /tmp, or ignore it in the repository")
	default:
		env(fatal, CodeRunnerError, "this is a fault of sandboxrun or of its host; see the run's events")
	}
}
