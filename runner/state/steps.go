package state

import "sandboxrun/internal/step"

// What the directory of a run is made of and what becomes of it.
var (
	stepMake    = step.Define("run/make")
	stepMark    = step.Define("run/mark")
	stepAppear  = step.Define("run/appear")
	stepClose   = step.Define("run/close")
	stepResult  = step.Define("run/result")
	stepUnmark  = step.Define("run/unmark")
	stepDiscard = step.Define("run/discard")
)
