package sandbox

import "sandboxrun/runner/step"

// What an engine makes and removes for a box, as a run's journal of steps has
// it. The subject of a step is the container's or the volume's name, or the
// container's id once there is one.
var (
	StepVolume       = step.Define("box/volume")
	StepCreate       = step.Define("box/create")
	StepAttach       = step.Define("box/attach")
	StepStart        = step.Define("box/start")
	StepRemove       = step.Define("box/remove")
	StepRemoveVolume = step.Define("box/unvolume")
)
