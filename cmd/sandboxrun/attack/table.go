package attack

import "slices"

// All is the whole table, group by group.
func All() []Attack {
	return slices.Concat(
		gitExec(), gitTruth(), gitDoS(), landing(), forgery(),
		container(), resources(), logContent(), network(), secrets(), supply(),
	)
}

// Quick lists the attacks of the self-test.
func Quick() []Attack {
	return slices.DeleteFunc(All(), func(a Attack) bool { return !a.Quick })
}

// Batches parts attacks into those that run in one box: per group the ones that share, and each other one alone.
func Batches(attacks []Attack) [][]Attack {
	var batches [][]Attack
	shared := map[Group]int{}
	for _, a := range attacks {
		if a.alone() {
			batches = append(batches, []Attack{a})
			continue
		}
		at, ok := shared[a.Group]
		if !ok {
			at = len(batches)
			shared[a.Group] = at
			batches = append(batches, nil)
		}
		batches[at] = append(batches[at], a)
	}
	return batches
}
