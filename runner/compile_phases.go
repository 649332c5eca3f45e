package runner

// planPhases lists the phases of a run with the bounds they have of their own.
func planPhases() []PhasePlan {
	var out []PhasePlan
	for _, ph := range phases {
		out = append(out, PhasePlan{Name: ph.name, BudgetSeconds: int(ph.own.Seconds())})
	}
	return append(out, PhasePlan{Name: "settle"})
}
