package gitdiff

import "sandboxrun/runner/step"

// What this package makes and removes, as a run's journal of steps has it. The subject of a step is a path, of those that
// write to a user's repository the commit and the branch of the landing. StepObject is not in journals: it is taken too often.
var (
	StepBaseBuild  = step.Define("base/build")
	StepBaseAppear = step.Define("base/appear")
	StepBaseEvict  = step.Define("base/evict")
	StepTreeMake   = step.Define("tree/make")
	StepTreeFill   = step.Define("tree/fill")
	StepStage      = step.Define("land/stage")
	StepObjects    = step.Define("land/objects")
	StepObject     = step.Define("land/object")
	StepPublish    = step.Define("land/publish")
	StepRefDraft   = step.Define("land/draft")
	StepRefLock    = step.Define("land/lock")
	StepRef        = step.Define("land/ref")
	StepRelease    = step.Define("land/release")
	StepUnstage    = step.Define("land/unstage")
)
