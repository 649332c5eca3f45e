package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// disturbance is what happens to a task while it runs.
type disturbance string

const (
	leftAlone  disturbance = "left alone"
	killed     disturbance = "runner SIGKILL"
	terminated disturbance = "runner SIGTERM"
	stopped    disturbance = "runner SIGINT"
	boxKilled  disturbance = "box killed"
	boxRemoved disturbance = "box removed"
)

// assignment is one task and its disturbance. The seed determines both.
type assignment struct {
	id          string
	repo        int
	kind        *kind
	inside      bool // run by a runner in this very process
	disturbance disturbance
	phase       string        // the disturbance comes after this phase of the run has begun; "" for the start of the program
	after       time.Duration // and this long after that
	reap        bool          // a reap follows
	hurtReap    bool          // the reap is killed
}

// disturbedPhases are the phases in which a task may be disturbed. "" is the time before the run exists.
var disturbedPhases = []string{"", "", "checkout", "open", "prepare", "agent", "agent", "close", "snapshot", "verify", "judge", "land", "settle"}

func assign(seed uint64, i, repos int, agents bool) assignment {
	r := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // reproducible is the point
	a := assignment{id: fmt.Sprintf("soak-%d", i), repo: r.IntN(repos), kind: drawKind(r, agents), disturbance: leftAlone}
	a.inside = r.IntN(10) < 4 && !a.kind.agent
	switch n := r.IntN(100); {
	case n < 5:
		a.disturbance = []disturbance{boxKilled, boxRemoved}[r.IntN(2)]
	case n < 35 && a.inside:
		a.disturbance = []disturbance{terminated, stopped}[r.IntN(2)]
	case n < 21:
		a.disturbance = killed
	case n < 28:
		a.disturbance = terminated
	case n < 35:
		a.disturbance = stopped
	}
	a.phase = disturbedPhases[r.IntN(len(disturbedPhases))]
	a.after = time.Duration(r.IntN(150)) * time.Millisecond
	if a.phase == "" {
		a.after *= 12
	}
	if a.disturbance == boxKilled || a.disturbance == boxRemoved {
		a.phase = "agent" // where a box surely exists
	}
	a.reap = r.IntN(20) == 0 || a.disturbance == killed && r.IntN(2) == 0
	a.hurtReap = a.reap && r.IntN(4) == 0
	return a
}

func drawKind(r *rand.Rand, agents bool) *kind {
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	n := r.IntN(total)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			if k.agent && !agents {
				return kinds[0]
			}
			return k
		}
	}
	return kinds[0]
}
