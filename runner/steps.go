package runner

import (
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/step"
)

// What a run makes and removes besides what the engine and git do for it. Those
// of its directory are in no journal: that is not there yet, or no longer open.
var (
	stepNewSession  = step.Define("session/make")
	stepBindSession = step.Define("session/bind")
	stepMake        = step.Define("run/make")
	stepMark        = step.Define("run/mark")
	stepAppear      = step.Define("run/appear")
	stepJournal     = step.Define("run/journal")
	stepPlan        = step.Define("run/plan")
	stepStore       = step.Define("store/open")
	stepDirt        = step.Define("dirt/look")
	stepTunnel      = step.Define("tunnel/open")
	stepSetup       = step.Define("setup")
	stepRecall      = step.Define("talk/restore")
	stepTurn        = step.Define("agent/turn")
	stepWork        = step.Define("work/command")
	stepTalk        = step.Define("talk/keep")
	stepSnapshot    = step.Define("tree/snapshot")
	stepPatch       = step.Define("patch/write")
	stepVerify      = step.Define("verify/command")
	stepTree        = step.Define("tree/remove")
	stepSessionTree = step.Define("session/tree")
	stepTrees       = step.Define("run/trees")
	stepSession     = step.Define("session/write")
	stepLeave       = step.Define("session/leave")
	stepClose       = step.Define("run/close")
	stepResult      = step.Define("run/result")
	stepUnmark      = step.Define("run/unmark")
	stepDiscard     = step.Define("run/discard")
)

// What a later runner does for dead ones.
var (
	stepReapBoxes    = step.Define("reap/boxes")
	stepReapTrees    = step.Define("reap/trees")
	stepReapLanding  = step.Define("reap/landing")
	stepReapChange   = step.Define("reap/change")
	stepReapDiscard  = step.Define("reap/discard")
	stepReapSession  = step.Define("reap/session")
	stepReapStrays   = step.Define("reap/strays")
	stepReapSessions = step.Define("reap/sessions")
	stepReapSweep    = step.Define("reap/sweep")
)

// step takes a step where no context carries the run's journal of steps.
func (x *run) step(n step.Name, about string, take func() error) error {
	return step.Tell(x.steps.watch, n, about, take)
}

// tellBase writes down where the run begins.
func (x *run) tellBase() {
	x.steps.fact(factBase, x.base.ID, x.base.Tree, x.base.Time.UTC().Format(time.RFC3339))
}

// closeTree removes a tree of the run.
func (x *run) closeTree(ws *gitdiff.Workspace) error {
	return x.step(stepTree, ws.WatchDir(), ws.Close)
}

// closeJournals ends both journals and returns the first failure that of the
// events ever had.
func (x *run) closeJournals() error {
	err := x.log.close()
	if serr := x.steps.close(); err == nil {
		err = serr
	}
	return err
}
