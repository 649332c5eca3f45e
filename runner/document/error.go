package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/runner/excerpt"
	"sandboxrun/sandbox"
)

// ErrorType is the coarse kind of an error document.
type ErrorType string

// Error types. A bridge failure tells the caller that it may do the work itself.
const (
	ErrorInvalidInput  ErrorType = "invalid_input"
	ErrorBridgeFailure ErrorType = "bridge_failure"
	ErrorInternal      ErrorType = "internal"
)

// errorDoc is the wire form of schemas/error.schema.json.
type errorDoc struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody is what an error document says.
type ErrorBody struct {
	Type    ErrorType `json:"type"`
	Code    string    `json:"code,omitempty"` // stable and fine-grained; only the server's answers have one
	Message string    `json:"message"`
	Details []Detail  `json:"details,omitempty"`
	Hint    string    `json:"hint,omitempty"`
}

// EncodeError writes the JSON document, ending in a newline, that takes the
// place of a result, and says of which type it is.
func EncodeError(err error) ([]byte, ErrorType) {
	body := DescribeError(err)
	doc, merr := Encode(errorDoc{body})
	if merr != nil {
		panic(fmt.Sprintf("error document: %v", merr)) // strings always marshal
	}
	return doc, body.Type
}

// DescribeError is what the document about err says, with a bounded message.
func DescribeError(err error) ErrorBody {
	body := describe(err)
	body.Message = excerpt.Clip(body.Message, 4*maxMessage)
	return body
}

func describe(err error) ErrorBody {
	var (
		input  *InputError
		gone   *sandbox.UnavailableError
		broken *sandbox.EngineError
		image  *sandbox.ImageError
		policy *sandbox.PolicyError
		busy   *BusyError
	)
	if bridge, ok := errors.AsType[*BridgeError](err); ok {
		return ErrorBody{Type: ErrorBridgeFailure, Message: err.Error(), Hint: bridge.Hint}
	}
	switch {
	case errors.As(err, &busy):
		return ErrorBody{Type: ErrorBridgeFailure, Message: err.Error(),
			Hint: "run it again later, or raise limits.runs, limits.total_memory or limits.wait_seconds in the configuration"}
	case errors.As(err, &input):
		return ErrorBody{Type: ErrorInvalidInput, Message: input.Message, Details: input.Details, Hint: input.Hint}
	case errors.As(err, &gone):
		return ErrorBody{Type: ErrorBridgeFailure, Message: err.Error(),
			Hint: cmp.Or(gone.Hint, `see "sandboxrun doctor"`)}
	case errors.As(err, &image):
		return ErrorBody{Type: ErrorBridgeFailure, Message: err.Error(),
			Hint: cmp.Or(image.Hint, `build the agents' image with "sandboxrun image build", or name another in box.image`)}
	case errors.As(err, &policy):
		return ErrorBody{Type: ErrorBridgeFailure, Message: err.Error(),
			Hint: `the engine does not keep what was asked of it; see "sandboxrun doctor"`}
	case errors.As(err, &broken):
		return ErrorBody{Type: ErrorBridgeFailure, Message: err.Error(),
			Hint: `the engine is there and fails; look at its log and at "sandboxrun doctor"`}
	case errors.Is(err, context.Canceled):
		return ErrorBody{Type: ErrorInternal, Message: "stopped before anything was run: " + err.Error()}
	}
	return ErrorBody{Type: ErrorInternal, Message: cmp.Or(err.Error(), "unknown error")}
}

// BridgeError says that what stands between the caller and a run is not there, hangs or stops. The caller may do the work
// itself.
type BridgeError struct {
	Message string // one sentence
	Hint    string // what a person can do, may be empty
}

func (e *BridgeError) Error() string { return e.Message }

// BusyError says that the other runs of the state directory leave no room.
// Nothing was created.
type BusyError struct {
	Reason string
	Waited time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("no room for another run after %s of waiting: %s", e.Waited.Round(time.Second), e.Reason)
}

// What a [CleanupError] names.
const (
	LeftBox     = "box"     // it may still run
	LeftLanding = "landing" // what the making of a branch left in the user's repository; nothing there depends on it
)

// CleanupError is something of a run whose removal could not be confirmed.
type CleanupError struct {
	What string // LeftBox, LeftLanding or words
	Err  error
}

func (e *CleanupError) Error() string { return fmt.Sprintf("remove %s: %v", e.What, e.Err) }

// Unwrap returns what went wrong.
func (e *CleanupError) Unwrap() error { return e.Err }
