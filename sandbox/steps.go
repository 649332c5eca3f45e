package sandbox

import "sandboxrun/internal/step"

// Steps of making and removing a box. [Spec.Journal] is told of StepVolume and
// StepCreate; their subject is the name of the volume or of the container.
var (
	StepVolume       = step.Define("box/volume")
	StepCreate       = step.Define("box/create")
	StepAttach       = step.Define("box/attach")
	StepStart        = step.Define("box/start")
	StepRemove       = step.Define("box/remove")
	StepRemoveVolume = step.Define("box/unvolume")
)
