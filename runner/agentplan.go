package runner

import (
	"maps"
	"slices"

	"sandboxrun/agents"
)

// environ is the profile's environment as name=value pairs, sorted.
func (a *AgentPlan) environ() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		list = append(list, name+"="+a.Env[name])
	}
	return list
}

// servers are the MCP servers as an agent takes them.
func (a *AgentPlan) servers() []agents.Server {
	var list []agents.Server
	for _, s := range a.MCP {
		server := s.Server
		server.Name = s.Name
		list = append(list, server)
	}
	return list
}
