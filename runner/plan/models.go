package plan

import (
	"fmt"
	"slices"

	"sandboxrun/agents"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox/egress"
)

// planRequests decides what the agent's requests to its provider may ask for. A task can only name what the user's
// configuration permits for that provider.
func (a *Agent) planRequests(info agents.Info, p config.Provider, asked []egress.Grant) error {
	var problems document.Problems
	for i, g := range asked {
		if !slices.Contains(p.Allow, g) {
			problems.Add(fmt.Sprintf("/agent/grants/%d", i), "the configuration does not permit %s: providers.%s.allow does not name it", g, a.Provider)
		}
	}
	a.Grants = append([]egress.Grant{}, asked...)
	a.Models = append([]string{}, info.ModelsAsked(a.Model)...)
	if len(a.Models) > 0 {
		a.Models = unique(append(a.Models, p.Models...))
	}
	return problems.Err("the task cannot be run", "providers.NAME.allow in the configuration permits what tasks may ask for")
}
