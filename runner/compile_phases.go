package runner

// planPhases lists the phases of a run with the bounds they have of their own.
func planPhases(session bool) []PhasePlan {
	var out []PhasePlan
	for _, ph := range phases {
		if ph.name == phaseSave && !session {
			continue
		}
		out = append(out, PhasePlan{Name: ph.name, BudgetSeconds: int(ph.own.Seconds())})
	}
	return append(out, PhasePlan{Name: "settle"})
}
