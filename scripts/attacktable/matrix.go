package main

import (
	"fmt"
	"strings"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/cmd/sandboxrun/attack/table"
)

// opponents in the order of the columns.
var opponents = []struct{ against, title string }{
	{"naive", "plain container, host git"}, {"runc", "sandboxrun, runc"}, {"runsc", "sandboxrun, gVisor"},
}

// matrix holds the outcome of each attack against each opponent.
type matrix struct {
	attacks  []attack.Attack
	outcomes map[string]attack.Outcome // by id and opponent
}

func newMatrix(all []attack.Outcome) matrix {
	m := matrix{attacks: table.All(), outcomes: map[string]attack.Outcome{}}
	for _, o := range all {
		m.outcomes[o.ID+" "+o.Against] = o
	}
	return m
}

// complete reports whether every attack has an outcome against every opponent.
func (m matrix) complete() bool {
	for _, a := range m.attacks {
		for _, o := range opponents {
			if _, ok := m.outcomes[a.ID+" "+o.against]; !ok {
				return false
			}
		}
	}
	return len(m.attacks) > 0
}

// tables are the sums by group, and every attack with its outcomes, as Markdown.
func (m matrix) tables() string {
	var b strings.Builder
	m.sums(&b)
	m.list(&b)
	return b.String()
}

func (m matrix) sums(b *strings.Builder) {
	var all []attack.Outcome
	for _, a := range m.attacks {
		for _, o := range opponents {
			all = append(all, m.outcomes[a.ID+" "+o.against])
		}
	}
	counts := map[attack.Group]map[string]table.Count{}
	var order []attack.Group
	for _, c := range table.Counts(all) {
		if counts[c.Group] == nil {
			counts[c.Group] = map[string]table.Count{}
			order = append(order, c.Group)
		}
		counts[c.Group][c.Against] = c
	}
	b.WriteString("| attacks on | " + titles() + " |\n|---|" + strings.Repeat(":-:|", len(opponents)) + "\n")
	total := map[string]table.Count{}
	for _, g := range order {
		fmt.Fprintf(b, "| %s |", g)
		for _, o := range opponents {
			c, t := counts[g][o.against], total[o.against]
			t.Attempted, t.Held, t.Skipped = t.Attempted+c.Attempted, t.Held+c.Held, t.Skipped+c.Skipped
			total[o.against] = t
			b.WriteString(" " + sum(c) + " |")
		}
		b.WriteByte('\n')
	}
	b.WriteString("| **all** |")
	for _, o := range opponents {
		b.WriteString(" " + sum(total[o.against]) + " |")
	}
	b.WriteString("\n\n")
}

func sum(c table.Count) string {
	text := fmt.Sprintf("%d of %d held", c.Held, c.Attempted)
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return text
}

func (m matrix) list(b *strings.Builder) {
	var notes []string
	var group attack.Group
	for _, a := range m.attacks {
		if a.Group != group {
			if group != "" {
				b.WriteByte('\n')
			}
			group = a.Group
			fmt.Fprintf(b, "### %s\n\n| | the attacker wants | %s |\n|---|---|%s\n", heading(group), titles(), strings.Repeat(":-:|", len(opponents)))
		}
		fmt.Fprintf(b, "| %s | %s |", a.ID, strings.ReplaceAll(a.Title, "|", `\|`))
		for _, o := range opponents {
			out := m.outcomes[a.ID+" "+o.against]
			b.WriteString(" " + out.State + " |")
			if out.State == attack.Skipped {
				notes = append(notes, fmt.Sprintf("- %s, %s: %s", a.ID, o.title, out.Detail))
			}
		}
		b.WriteByte('\n')
	}
	if len(notes) > 0 {
		b.WriteString("\nSkipped, and why:\n\n" + strings.Join(notes, "\n") + "\n")
	}
}

func heading(g attack.Group) string { return strings.ToUpper(string(g)[:1]) + string(g)[1:] }

func titles() string {
	names := make([]string, 0, len(opponents))
	for _, o := range opponents {
		names = append(names, o.title)
	}
	return strings.Join(names, " | ")
}
