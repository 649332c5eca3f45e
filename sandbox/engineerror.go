package sandbox

import "fmt"

// EngineError says that the engine is there and failed: it answered with an
// error of its own, or with what is no answer. What it was asked for may have
// been done all the same.
type EngineError struct {
	Op  string
	Err error
}

func (e *EngineError) Error() string { return fmt.Sprintf("%s: %v", e.Op, e.Err) }

// Unwrap returns the cause.
func (e *EngineError) Unwrap() error { return e.Err }

// LeftError says, beside why a box could not be opened, that what was made of it
// could not be confirmed as gone: it may be there, and run.
type LeftError struct{ Err error }

func (e *LeftError) Error() string { return e.Err.Error() }

// Unwrap returns what stood in the way of the removal.
func (e *LeftError) Unwrap() error { return e.Err }
