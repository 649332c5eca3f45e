package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"sandboxrun/runner/excerpt"
)

// Exit codes of the program; an interrupted run ends with 128 plus the signal.
const (
	ExitSuccess  = 0
	ExitInternal = 1
	ExitInput    = 2
	ExitPartial  = 3
	ExitFailed   = 4
	ExitBridge   = 5
	ExitLimit    = 6
	ExitWaiting  = 7 // a run that was waited for has not ended
)

// limitIssues are the codes of issues that a limit is the cause of.
var limitIssues = []string{CodeRuntimeLimit, CodeMemoryLimit, CodePIDsLimit, CodeDiskLimit, CodeOutputLimit, CodeTokenLimit, CodeRequestLimit}

// ExitCode is the exit code that tells a result. cause is what ended the run's
// context, nil when nothing did.
func ExitCode(r *Result, cause error) int {
	var by Interrupted
	if r.has(CodeInterrupted) && errors.As(cause, &by) {
		return 128 + int(by.Signal)
	}
	switch {
	case r.Status == StatusSuccess:
		return ExitSuccess
	case r.has(limitIssues...):
		return ExitLimit
	case r.Status == StatusPartial:
		return ExitPartial
	}
	return ExitFailed
}

// ErrorExitCode is the exit code that tells an error document.
func ErrorExitCode(err error) int {
	if by, ok := errors.AsType[Interrupted](err); ok {
		return 128 + int(by.Signal)
	}
	switch describe(err).Type {
	case ErrorInvalidInput:
		return ExitInput
	case ErrorBridgeFailure:
		return ExitBridge
	default:
		return ExitInternal
	}
}

// StoredExitCode is the exit code that tells a stored result, ExitInternal for what is none.
func StoredExitCode(doc []byte) int {
	var r Result
	if json.Unmarshal(doc, &r) != nil {
		return ExitInternal
	}
	return ExitCode(&r, nil)
}

// RefusedExitCode is the exit code that tells an error document.
func RefusedExitCode(doc []byte) int {
	var e errorDoc
	switch err := json.Unmarshal(doc, &e); {
	case err == nil && e.Error.Type == ErrorInvalidInput:
		return ExitInput
	case err == nil && e.Error.Type == ErrorBridgeFailure:
		return ExitBridge
	}
	return ExitInternal
}

// has says whether the result has an issue with one of the codes.
func (r *Result) has(codes ...string) bool {
	return slices.ContainsFunc(r.Issues, func(i Issue) bool { return slices.Contains(codes, i.Code) })
}

// Interrupted is the cause to cancel Execute's context with when a person or a
// supervisor stops the run. The exit code of such a run is 128 plus the signal.
type Interrupted struct{ Signal syscall.Signal } //nolint:errname // a cause, not a failure

func (i Interrupted) Error() string { return fmt.Sprintf("interrupted by %s", i.Signal) }

// Cancelled is the cause to cancel Execute's context with when a person asks for
// the end of a run from another process. What was done so far is kept in the
// patch, and nothing lands.
type Cancelled struct{ By, Reason string } //nolint:errname // a cause, not a failure

func (c Cancelled) Error() string {
	text := "cancelled"
	if c.By != "" {
		text += " by " + excerpt.Printable(excerpt.Clip(c.By, 200))
	}
	if c.Reason != "" {
		text += ": " + excerpt.Printable(excerpt.Clip(c.Reason, 500))
	}
	return text
}
