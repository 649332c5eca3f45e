package plan

import "time"

// Bounds of the phases that outlive the task's clock.
const (
	SaveBound     = 20 * time.Second
	CloseBound    = 60 * time.Second
	SnapshotBound = 5 * time.Minute
	JudgeBound    = 30 * time.Second
	LandBound     = 2 * time.Minute
)

// PhaseSave is the one phase that only runs of a session have.
const PhaseSave = "save"

// phaseOrder is every phase of a run with its own bound, 0 for those that run
// under the task's clock. The runner documents what each does, and the reason of the order.
var phaseOrder = []struct {
	name  string
	bound time.Duration
}{
	{"checkout", 0}, {"open", 0}, {"prepare", 0}, {"agent", 0}, {PhaseSave, SaveBound}, {"close", CloseBound}, {"snapshot", SnapshotBound},
	{"verify", 0}, {"judge", JudgeBound}, {"land", LandBound}, {"settle", 0},
}

// Phases lists the phases of a run with the bounds they have of their own.
func Phases(session bool) []Phase {
	var out []Phase
	for _, ph := range phaseOrder {
		if ph.name != PhaseSave || session {
			out = append(out, Phase{Name: ph.name, BudgetSeconds: int(ph.bound.Seconds())})
		}
	}
	return out
}
