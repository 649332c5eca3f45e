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
