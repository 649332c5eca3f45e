package plan

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/reading"
	"sandboxrun/sandbox"
)

// Defaults of a task.
const (
	defaultMaxRuntimeSeconds = 600
	DefaultBase              = "HEAD"
)

// Compile turns a valid task into a plan. Flags override the task, the task overrides the configuration. It is pure:
// it uses no clock, disk or engine, and so gives the same plan every time. Errors are *InputError, about the flags or
// the combination.
func Compile(t *document.Task, c config.Config, o Overrides) (*Plan, error) {
	var p document.Problems
	o.validate(&p)
	if err := p.Err("the flags are not valid", `see "sandboxrun execute --help"`); err != nil {
		return nil, err
	}
	decided := c.RepositoryFor(t.Context.RepoRoot)
	t = decided.Complete(t)
	c.DefaultAgent = cmp.Or(decided.Agent, c.DefaultAgent)
	box, env := config.Box{Image: decided.Image, Network: config.Network{Allow: decided.Allow}}.Over(c.Box), map[string]string{}
	if t.Box != nil {
		box = config.BoxOf(t.Box).Over(box)
		maps.Copy(env, t.Box.Env)
	}
	box = config.Box{Image: o.Image, Runtime: o.Runtime, RequireTier: o.RequireTier, Network: config.Network{Allow: o.AllowHosts}}.Over(box)
	plan := &Plan{
		TaskID:            t.TaskID,
		RepoRoot:          filepath.Clean(t.Context.RepoRoot),
		Base:              cmp.Or(o.Base, t.Context.Base, DefaultBase),
		IncludeDirty:      t.Context.IncludeDirty,
		Mode:              cmp.Or(t.ExecutionMode, document.ModeCode),
		Box:               BoxesOf(box, c.Limits, env),
		Setup:             list(t.SetupCommands),
		SetupInputs:       inputsOf(t.SetupInputs, t.SetupCommands),
		VerifySetup:       SetupOnBase,
		Work:              []string{},
		Baseline:          t.Baseline,
		Criteria:          append([]document.Criterion{}, t.AcceptanceCriteria...),
		Constraints:       append([]document.Constraint{}, t.Constraints...),
		Protected:         list(t.ProtectedPaths),
		Land:              cmp.Or(o.Land, t.Land, document.LandBranch),
		MaxRuntimeSeconds: cmp.Or(t.MaxRuntimeSeconds, defaultMaxRuntimeSeconds),
		Spending:          Spending{Tokens: least(t.MaxTokens, c.Limits.Tokens), Requests: least(t.MaxRequests, c.Limits.Requests)},
		Objective:         t.Objective,
		NotesForHuman:     t.NotesForHuman,
	}
	if t.Box != nil && t.Box.Network != nil && t.Box.Network.VerifyAllow != nil {
		plan.VerifySetup, plan.Box.VerifyAllow = SetupOnCaptured, unique(t.Box.Network.VerifyAllow)
	}
	if err := plan.planReadings(t, reading.With(c.Readings), o.Strict || t.Strict); err != nil {
		return nil, err
	}
	plan.planCommands(t.SuggestedCommands)
	if err := plan.planSession(t, o); err != nil {
		return nil, err
	}
	if plan.Mode == document.ModeCommand {
		return plan, nil
	}
	return plan, plan.planAgent(t, c, o)
}

// BoxesOf gives a box every limit.
func BoxesOf(b config.Box, l config.Limits, env map[string]string) Boxes {
	limits := sandbox.DefaultLimits()
	limits.MemoryBytes = cmp.Or(int64(b.Memory), limits.MemoryBytes)
	limits.CPUs = cmp.Or(b.CPUs, limits.CPUs)
	limits.PIDs = cmp.Or(b.PIDs, limits.PIDs)
	limits.DiskBytes = cmp.Or(int64(b.Disk), limits.DiskBytes)
	l.Apply(&limits)
	return Boxes{Image: b.Image, Runtime: b.Runtime, RequireTier: b.RequireTier, Limits: limits, Env: env, SetupAllow: unique(b.Network.Allow), VerifyAllow: []string{}}
}

// planCommands decides where the suggested commands run, and what is verified. In
// mode command they are the work and cannot vouch for themselves. A command is
// verified once, however often it is named; a criterion gives its expected exit code.
func (p *Plan) planCommands(suggested []string) {
	p.Verify = []VerifyCommand{}
	if p.Mode != document.ModeCode {
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
	if p.Mode != document.ModeCommand {
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
	for i, r := range p.Readings {
		for _, c := range r.Checks {
			if c.Command != "" {
				v := verify(c.Command)
				v.Readings, v.ExpectExit = append(v.Readings, i), c.Exit()
			}
		}
	}
}

// planAgent chooses the agent. Another agent does not inherit the settings chosen for the first one.
func (p *Plan) planAgent(t *document.Task, c config.Config, o Overrides) error {
	var asked document.AgentChoice
	if t.Agent != nil {
		asked = *t.Agent
	}
	name := cmp.Or(o.Agent, asked.Name, c.DefaultAgent)
	a, ok := agents.Lookup(name)
	if !ok {
		return &document.InputError{Message: "the task cannot be run", Details: []document.Detail{{Path: "/agent", Message: document.AgentProblem(name)}}}
	}
	if o.Agent != "" && asked.Name != "" && !sameAgent(a, asked.Name) {
		asked = document.AgentChoice{}
	}
	info := a.Info()
	variant := cmp.Or(o.Variant, asked.Variant, config.VariantDefault)
	profile, err := c.Profiles.Profile(info, variant)
	if err != nil {
		return document.InputAt("/agent/variant", err.Error())
	}
	return p.planTurn(t, c, o, info, asked, variant, profile)
}

// planTurn decides how the chosen agent runs: flags override the task, the task overrides the profile.
func (p *Plan) planTurn(t *document.Task, c config.Config, o Overrides, info agents.Info, asked document.AgentChoice, variant string, profile config.Profile) error {
	providers := info.Providers
	if named := cmp.Or(asked.Provider, profile.Provider); named != "" {
		providers = []string{named}
	}
	provider, wire, err := c.ProviderFor(providers, info.Wires)
	if err != nil {
		return document.InputAt("/agent", fmt.Sprintf("agent %s: %v", info.Name, err))
	}
	if profile.ReadOnly && len(p.Work) > 0 {
		return document.InputAt("/execution_mode", fmt.Sprintf("variant %s of %s changes nothing, so there is no place for commands whose changes count", variant, info.Name))
	}
	p.Agent = &Agent{
		Name:      info.Name,
		Variant:   variant,
		Model:     cmp.Or(o.Model, asked.Model, profile.Model),
		Provider:  provider,
		Wire:      wire,
		Approvals: document.PlanApprovals(o.Approve, t.Approvals, profile.Approve),
		ReadOnly:  profile.ReadOnly,
		Args:      list(profile.AdditionalParams),
		Env:       map[string]string{},
		MCP:       []PlannedServer{},
		Settings:  profile.Settings,
	}
	if err := p.Agent.planRequests(info, c.Providers[provider], asked.Grants); err != nil {
		return err
	}
	maps.Copy(p.Agent.Env, profile.Env)
	for _, s := range document.McpServers(profile.MCPServers, t.MCPServers) {
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

// least is the smaller of two limits, of which 0 is none.
func least(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
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

// planSession sets the run's place in a session.
func (p *Plan) planSession(t *document.Task, o Overrides) error {
	p.Session = cmp.Or(o.Session, t.SessionID)
	p.Retry = cmp.Or(o.Retry, t.RetryProcessID)
	p.ForceWhenDirty = o.ForceWhenDirty || t.ForceWhenDirty
	switch {
	case p.Session != "" && p.Mode == document.ModeCommand:
		return document.InputAt("/session_id", "a session needs an agent, and execution_mode command has none")
	case p.Session == "" && p.Retry != "":
		return document.InputAt("/retry_process_id", "needs a session_id")
	}
	p.Phases = Phases(p.Session != "")
	return nil
}
