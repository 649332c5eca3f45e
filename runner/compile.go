package runner

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
)

// Defaults of a task.
const (
	defaultRuntimeSeconds = 600
	defaultBase           = "HEAD"
)

// Compile turns a valid task into a plan. Flags go over the task, the task over
// the configuration. It is pure: no clock, no disk, no engine, and so the same
// plan every time. Errors are *InputError, about the flags or about the whole.
func Compile(t *Task, c Config, o Overrides) (*Plan, error) {
	var p problems
	o.validate(&p)
	if err := p.err("the flags are not valid", `see "sandboxrun execute --help"`); err != nil {
		return nil, err
	}
	box, env := c.Box, map[string]string{}
	if t.Box != nil {
		box = t.Box.config().over(box)
		maps.Copy(env, t.Box.Env)
	}
	box = BoxConfig{Image: o.Image, Runtime: o.Runtime, RequireTier: o.RequireTier, Network: NetworkConfig{Allow: o.AllowHosts}}.over(box)
	plan := &Plan{
		TaskID:        t.TaskID,
		RepoRoot:      filepath.Clean(t.Context.RepoRoot),
		Base:          firstSet(o.Base, t.Context.Base, defaultBase),
		IncludeDirty:  t.Context.IncludeDirty,
		Mode:          firstSet(t.ExecutionMode, ModeCode),
		Box:           planBox(box, c.Limits, env),
		Setup:         list(t.SetupCommands),
		Work:          []string{},
		Baseline:      t.Baseline,
		Criteria:      append([]Criterion{}, t.AcceptanceCriteria...),
		Constraints:   append([]Constraint{}, t.Constraints...),
		Protected:     list(t.ProtectedPaths),
		Land:          firstSet(o.Land, t.Land, LandBranch),
		LimitSeconds:  firstSet(t.MaxRuntimeSeconds, defaultRuntimeSeconds),
		Objective:     t.Objective,
		NotesForHuman: t.NotesForHuman,
	}
	plan.planCommands(t.SuggestedCommands)
	if err := plan.planSession(t, o); err != nil {
		return nil, err
	}
	if plan.Mode == ModeCommand {
		return plan, nil
	}
	return plan, plan.planAgent(t, c, o)
}

// planBox gives a box every limit.
func planBox(b BoxConfig, l LimitsConfig, env map[string]string) BoxPlan {
	limits := sandbox.DefaultLimits()
	limits.MemoryBytes = firstSet(int64(b.Memory), limits.MemoryBytes)
	limits.CPUs = firstSet(b.CPUs, limits.CPUs)
	limits.PIDs = firstSet(b.PIDs, limits.PIDs)
	limits.DiskBytes = firstSet(int64(b.Disk), limits.DiskBytes)
	l.apply(&limits)
	return BoxPlan{Image: b.Image, Runtime: b.Runtime, RequireTier: b.RequireTier, Limits: limits, Env: env, SetupAllow: unique(b.Network.Allow)}
}

// planCommands says where the suggested commands run, and what is verified. In
// mode command they are the work and cannot vouch for themselves. A command is
// verified once, however often it is named; a criterion says how it must end.
func (p *Plan) planCommands(suggested []string) {
	p.Verify = []VerifyCommand{}
	if p.Mode != ModeCode {
		p.Work = list(suggested)
	}
	at := map[string]int{}
	verify := func(command string) *VerifyCommand {
		i, known := at[command]
		if !known {
			i = len(p.Verify)
			at[command] = i
			p.Verify = append(p.Verify, VerifyCommand{Command: command, Criteria: []int{}})
		}
		return &p.Verify[i]
	}
	if p.Mode != ModeCommand {
		for _, command := range suggested {
			verify(command)
		}
	}
	for i, c := range p.Criteria {
		if c.Command != "" {
			v := verify(c.Command)
			v.Criteria, v.ExpectExit = append(v.Criteria, i), c.ExpectExit
		}
	}
}

// planAgent chooses the agent. Who names another agent does not inherit what
// was chosen for the first one.
func (p *Plan) planAgent(t *Task, c Config, o Overrides) error {
	var asked AgentChoice
	if t.Agent != nil {
		asked = *t.Agent
	}
	name := firstSet(o.Agent, asked.Name, c.DefaultAgent)
	a, ok := agents.Lookup(name)
	if !ok {
		return &InputError{Message: "the task cannot be run", Details: []Detail{{Path: "/agent", Message: agentProblem(name)}}}
	}
	if o.Agent != "" && asked.Name != "" && !sameAgent(a, asked.Name) {
		asked = AgentChoice{}
	}
	info := a.Info()
	variant := firstSet(o.Variant, asked.Variant, VariantDefault)
	profile, err := c.Profiles.Profile(info, variant)
	if err != nil {
		return inputAt("/agent/variant", err.Error())
	}
	return p.planTurn(t, c, o, info, asked, variant, profile)
}

// planTurn says how the chosen agent is run: flags go over the task, the task
// over the profile.
func (p *Plan) planTurn(t *Task, c Config, o Overrides, info agents.Info, asked AgentChoice, variant string, profile Profile) error {
	providers := info.Providers
	if named := firstSet(asked.Provider, profile.Provider); named != "" {
		providers = []string{named}
	}
	provider, wire, err := c.ProviderFor(providers, info.Wires)
	if err != nil {
		return inputAt("/agent", fmt.Sprintf("agent %s: %v", info.Name, err))
	}
	if profile.ReadOnly && len(p.Work) > 0 {
		return inputAt("/execution_mode", fmt.Sprintf("variant %s of %s changes nothing, so there is no place for commands whose changes count", variant, info.Name))
	}
	p.Agent = &AgentPlan{
		Name:      info.Name,
		Variant:   variant,
		Model:     firstSet(o.Model, asked.Model, profile.Model),
		Provider:  provider,
		Wire:      wire,
		Approvals: planApprovals(o.Approve, t.Approvals, profile.Approve),
		ReadOnly:  profile.ReadOnly,
		Args:      list(profile.AdditionalParams),
		Env:       map[string]string{},
		MCP:       []PlannedServer{},
		Settings:  profile.Settings,
	}
	maps.Copy(p.Agent.Env, profile.Env)
	for _, s := range mcpServers(profile.MCPServers, t.MCPServers) {
		p.Agent.MCP = append(p.Agent.MCP, PlannedServer{Name: s.Name, Server: s})
	}
	p.Agent.Prompt = prompt(t, p)
	if profile.AppendPrompt != "" {
		p.Agent.Prompt += "\n" + strings.TrimSpace(profile.AppendPrompt) + "\n"
	}
	return nil
}

func sameAgent(a agents.Agent, name string) bool {
	info := a.Info()
	return name == info.Name || name == info.Executor
}

// list copies a slice and never returns nil, which JSON would show as null.
func list(s []string) []string { return append([]string{}, s...) }

// unique keeps the first of equal strings.
func unique(s []string) []string {
	out := []string{}
	for _, v := range s {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
