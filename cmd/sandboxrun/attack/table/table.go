// Package table lists every attack that a box and everything behind it must withstand.
package table

import (
	"fmt"
	"slices"

	"sandboxrun/cmd/sandboxrun/attack"
)

// All lists all attacks, group by group.
func All() []attack.Attack {
	return slices.Concat(
		gitExec(), gitTruth(), gitDoS(), landing(), forgery(),
		container(), append(resources(), longCommands()), logContent(), network(), provider(), append(secrets(), repeatedKey()), supply(),
	)
}

// groups in the order of reports.
var groups = []attack.Group{attack.GitExec, attack.GitTruth, attack.GitDoS, attack.Landing, attack.Forgery, attack.Container, attack.Resources, attack.Content, attack.Network, attack.Secrets, attack.Supply}

// Count sums the outcomes of one group against one opponent.
type Count struct {
	Group   attack.Group
	Against string
	// Attempted is Held and Breached together; Skipped ones are not in it.
	Attempted, Held, Breached, Skipped int
}

// Counts sums outcomes up by group and opponent, in the order of the groups.
func Counts(all []attack.Outcome) []Count {
	var counts []Count
	for _, o := range all {
		i := slices.IndexFunc(counts, func(c Count) bool { return c.Group == o.Group && c.Against == o.Against })
		if i < 0 {
			i = len(counts)
			counts = append(counts, Count{Group: o.Group, Against: o.Against})
		}
		switch o.State {
		case attack.Held:
			counts[i].Attempted++
			counts[i].Held++
		case attack.Breached:
			counts[i].Attempted++
			counts[i].Breached++
		default:
			counts[i].Skipped++
		}
	}
	slices.SortStableFunc(counts, func(a, b Count) int {
		if d := slices.Index(groups, a.Group) - slices.Index(groups, b.Group); d != 0 {
			return d
		}
		return slices.Index([]string{"naive", "runc", "runsc"}, a.Against) - slices.Index([]string{"naive", "runc", "runsc"}, b.Against)
	})
	return counts
}

// Tally formats the counts as lines, and every skip with its reason.
func Tally(all []attack.Outcome) []string {
	var lines []string
	for _, c := range Counts(all) {
		lines = append(lines, fmt.Sprintf("%-24s %-7s attempted %3d, held %3d, breached %3d, skipped %3d",
			c.Group, c.Against, c.Attempted, c.Held, c.Breached, c.Skipped))
	}
	for _, o := range all {
		if o.State == attack.Skipped {
			lines = append(lines, fmt.Sprintf("skipped against %s: %s %s: %s", o.Against, o.ID, o.Title, o.Detail))
		}
	}
	return lines
}
