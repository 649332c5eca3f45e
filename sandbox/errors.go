package sandbox

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by operations on a box that Close has removed.
var ErrClosed = errors.New("box is closed")

// ErrOverlayUnsupported is returned by Engine.Open when the engine cannot mount
// the overlay of the Spec (remote engine, old kernel, filesystem). The caller
// falls back to a plain directory.
var ErrOverlayUnsupported = errors.New("engine cannot mount an overlay of these directories")

// Limit names one of the hard limits of a box.
type Limit string

// The limits that end a box.
const (
	LimitTime   Limit = "time"
	LimitMemory Limit = "memory"
	LimitPIDs   Limit = "pids"
	LimitDisk   Limit = "disk"
	LimitOutput Limit = "output"
	// LimitTokens and LimitRequests bound the model requests of the box's run, or of all runs of a day.
	LimitTokens   Limit = "tokens"
	LimitRequests Limit = "requests"
)

// LimitError says that a box was removed because it hit a limit.
type LimitError struct {
	Limit  Limit
	Detail string // what was measured, for people
	// Which is the measure that was exceeded, "" where only the limit is known;
	// Allowed and Measured are in its unit.
	Which             string
	Allowed, Measured int64
}

// Measures of limits, with their units.
const (
	MeasureRuntime     = "runtime_seconds"
	MeasureIdle        = "idle_seconds"
	MeasureMemory      = "memory_bytes"
	MeasurePIDs        = "pids"
	MeasureTreeBytes   = "tree_bytes" // growth
	MeasureTreeFiles   = "tree_files" // growth
	MeasureTreeDepth   = "tree_depth"
	MeasureHostFree    = "host_free_bytes" // Allowed is the least
	MeasureOutput      = "output_bytes"
	MeasureRunTokens   = "run_tokens"
	MeasureRunRequests = "run_requests"
	MeasureDayTokens   = "day_tokens" // of all runs of a state directory
	MeasureDayRequests = "day_requests"
)

func (e *LimitError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("box hit its %s limit", e.Limit)
	}
	return fmt.Sprintf("box hit its %s limit: %s", e.Limit, e.Detail)
}

// UnavailableError says that the engine did not answer, answered too late, or
// went away. Nothing can be concluded about what ran in it.
type UnavailableError struct {
	Op   string
	Hint string // what a person can do
	Err  error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("%s: engine unavailable: %v", e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// ImageError says that an image cannot be used as asked.
type ImageError struct {
	Image, Reason, Hint string
}

func (e *ImageError) Error() string { return fmt.Sprintf("image %s: %s", e.Image, e.Reason) }

// PolicyError says that the engine created a box that does not keep a promise
// of the Spec; the box was removed before anything ran in it.
type PolicyError struct {
	Promise string // what was asked for, e.g. "no capabilities"
	Got     string // what inspection showed
}

func (e *PolicyError) Error() string {
	return fmt.Sprintf("policy not applied: %s: engine made %s", e.Promise, e.Got)
}

// EndedError says that the main process of a box, the guest, ended too early; everything else in the box ended with
// it.
type EndedError struct {
	Code   int    // exit status as the engine reports it, -1 when it reports none
	Stderr string // the last of the guest's standard error, fit for a terminal
	// Removed says that the box no longer exists: another program removed it.
	Removed bool
}

func (e *EndedError) Error() string {
	if e.Removed {
		return "box ended: it was removed by another program"
	}
	text := fmt.Sprintf("box ended: its main process exited with status %d", e.Code)
	if e.Stderr != "" {
		text += ": " + e.Stderr
	}
	return text
}

// EngineError says that the engine is reachable and failed: it answered with an error of its own or with an unusable
// answer. The requested operation may have taken effect nevertheless.
type EngineError struct {
	Op  string
	Err error
}

func (e *EngineError) Error() string { return fmt.Sprintf("%s: %v", e.Op, e.Err) }

// Unwrap returns the cause.
func (e *EngineError) Unwrap() error { return e.Err }

// LeftError says, in addition to why a box could not be opened, that its removal could not be confirmed: it may still
// exist and run.
type LeftError struct{ Err error }

func (e *LeftError) Error() string { return e.Err.Error() }

// Unwrap returns why the removal was not confirmed.
func (e *LeftError) Unwrap() error { return e.Err }
