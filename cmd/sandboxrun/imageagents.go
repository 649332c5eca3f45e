package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/images"
	"sandboxrun/runner"
	"sandboxrun/sandbox"
)

// agentLabel names the label of an image that says which version of an agent
// it holds: agentLabel + the agent's name.
const agentLabel = "sandboxrun.agent."

// agentsIn lists what an image says it holds, as name@version by name, agents
// that this program does not know included.
func agentsIn(i sandbox.ImageInfo) []string {
	var list []string
	for _, label := range slices.Sorted(maps.Keys(i.Labels)) {
		if name, ok := strings.CutPrefix(label, agentLabel); ok {
			list = append(list, printable(name+"@"+i.Labels[label]))
		}
	}
	return list
}

// imageAgents says of agents what the image needs to know.
func imageAgents(chosen []agents.Info) []images.Agent {
	var list []images.Agent
	for _, a := range chosen {
		list = append(list, images.Agent{
			Name: a.Name, Package: a.Package, Version: a.Version,
			Packages: a.Install.Packages, Script: a.Install.Script, Binary: a.Binary,
		})
	}
	return list
}

// chooseAgents finds agents by name, each once; none means all.
func chooseAgents(names []string) ([]agents.Info, error) {
	if len(names) == 0 {
		return registered(), nil
	}
	var chosen []agents.Info
	for _, name := range names {
		a, ok := agents.Lookup(name)
		if !ok {
			return nil, &runner.InputError{Message: fmt.Sprintf("no agent is called %q", name), Hint: "sandboxrun agents list"}
		}
		info := a.Info()
		if !slices.ContainsFunc(chosen, func(c agents.Info) bool { return c.Name == info.Name }) {
			chosen = append(chosen, info)
		}
	}
	return chosen, nil
}

// registered describes every agent, by name.
func registered() []agents.Info {
	var list []agents.Info
	for _, a := range agents.All() {
		list = append(list, a.Info())
	}
	return list
}

func describeAgents(list []agents.Info) string {
	var parts []string
	for _, a := range list {
		parts = append(parts, a.Name+" "+a.Version)
	}
	return strings.Join(parts, ", ")
}
