package state

import "sandboxrun/internal/step"

// Steps of making and ending the directory of a run.
var (
	stepMake    = step.Define("run/make")
	stepWorker  = step.Define("run/worker")
	stepMark    = step.Define("run/mark")
	stepAppear  = step.Define("run/appear")
	stepClose   = step.Define("run/close")
	stepSign    = step.Define("run/sign")
	stepResult  = step.Define("run/result")
	stepUnmark  = step.Define("run/unmark")
	stepDiscard = step.Define("run/discard")
)
