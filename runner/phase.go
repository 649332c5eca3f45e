package runner

import (
	"context"
	"slices"
	"time"
)

// phase is one step of a run. Phases without a bound of their own live under
// the task's clock; those with one are owed to the user whatever happened and
// so run under it even after a limit or an interruption.
type phase struct {
	name string
	own  time.Duration
	skip func(*run) bool // nil: never skipped
	do   func(*run, context.Context) error
}

// phaseSave is the one phase that only runs of a session have.
const phaseSave = "save"

// Bounds of the phases that outlive the task's clock.
const (
	saveBound     = 20 * time.Second
	closeBound    = 60 * time.Second
	snapshotBound = 5 * time.Minute
	judgeBound    = 30 * time.Second
	landBound     = 2 * time.Minute
)

// phases is the whole of a run, in order. Save, of a session only, comes before
// close because the conversation lives in the box; close comes before snapshot so that
// nothing can change the tree under the reader; snapshot before verify so that
// the litter of tests never counts; verify in a fresh box so that nothing the
// agent left behind colours a verdict.
var phases = []phase{
	{name: "checkout", do: (*run).checkout},
	{name: "open", skip: (*run).broken, do: (*run).open},
	{name: "prepare", skip: (*run).broken, do: (*run).prepare},
	{name: "agent", skip: (*run).broken, do: (*run).work},
	{name: phaseSave, own: saveBound, skip: (*run).unsaved, do: (*run).save},
	{name: "close", own: closeBound, skip: (*run).boxless, do: (*run).closeBox},
	{name: "snapshot", own: snapshotBound, skip: (*run).treeless, do: (*run).capture},
	{name: "verify", skip: (*run).unverifiable, do: (*run).verify},
	{name: "judge", own: judgeBound, skip: (*run).unjudgeable, do: (*run).judge},
	{name: phaseLand, own: landBound, skip: (*run).unlandable, do: (*run).land},
}

// broken says that an earlier phase failed so that further work is pointless.
func (x *run) broken() bool { return x.findings.stopped }

func (x *run) boxless() bool { return x.box == nil }

// boxLeft says that a box of this run may still be there: the working one, or
// one whose removal could not be confirmed.
func (x *run) boxLeft() bool { return x.box != nil || slices.Contains(x.cleanup, leftBox) }

// treeless says that there is no tree to capture. A tree whose box could not
// be removed is not captured: it may still change under the reader.
func (x *run) treeless() bool { return x.tree == nil || x.boxLeft() }

func (x *run) unverifiable() bool {
	return x.snapshot == nil || x.findings.halted() || len(x.plan.Verify) == 0
}

func (x *run) unjudgeable() bool { return x.diff == nil }

// unlandable says that nothing is to be landed: nothing changed, nobody asked,
// the run failed, a person stopped it (its patch stays for "apply"), or the
// change may hold secrets.
func (x *run) unlandable() bool {
	return x.diff == nil || len(x.diff.Changes) == 0 || x.plan.Land != LandBranch ||
		x.findings.interrupted || x.leaks.found || x.status() == StatusFailed
}
