// Package plan turns a task into a plan: plain data, the same for the same task,
// configuration and flags.
package plan

import (
	"maps"
	"slices"

	"sandboxrun/agents"
	"sandboxrun/internal/wire"
	"sandboxrun/runner/document"
	"sandboxrun/runner/reading"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// Plan is what a task compiles to: plain data, printed by "sandboxrun plan".
// What is decided later (ids, resolved commits, image digests,
// uids) is not in it.
type Plan struct {
	TaskID       string                `json:"task_id,omitempty"` // "" until the run names it
	RepoRoot     string                `json:"repo_root"`
	Base         string                `json:"base"` // revision to resolve
	IncludeDirty bool                  `json:"include_dirty"`
	Mode         document.Mode         `json:"execution_mode"`
	Agent        *Agent                `json:"agent,omitempty"` // nil in command mode
	Box          Boxes                 `json:"box"`
	Setup        []string              `json:"setup"`        // on the base tree: in the working box, and in one for the verification; allow-list open
	SetupInputs  []string              `json:"setup_inputs"` // globs of whole paths that setup commands read
	VerifySetup  SetupTree             `json:"verify_setup"` // where set-up of the verification runs
	Work         []string              `json:"work"`         // after the agent, in its box; what they change counts
	Verify       []VerifyCommand       `json:"verify"`       // each in a fresh box on the captured tree
	Baseline     bool                  `json:"baseline"`
	Criteria     []document.Criterion  `json:"criteria"`
	Constraints  []document.Constraint `json:"constraints"`
	// Readings are what the sentences among constraints and criteria are measured by, in their order.
	Readings  []reading.Reading `json:"readings"`
	Lint      []Lint            `json:"lint,omitempty"` // what the caller may want to word better
	Protected []string          `json:"protected_paths"`
	Land      document.Land     `json:"land"`
	// Session is the session the run belongs to. Retry is the run of it that this one replaces, "" for a run after the
	// last; ForceWhenDirty lets a retry go back although the user's tree has uncommitted changes.
	Session        string `json:"session_id,omitempty"`
	Retry          string `json:"retry_process_id,omitempty"`
	ForceWhenDirty bool   `json:"force_when_dirty,omitempty"`

	MaxRuntimeSeconds int      `json:"limit_seconds"`     // hard limit of the whole run
	Spending          Spending `json:"spending,omitzero"` // limits of the model requests
	Phases            []Phase  `json:"phases"`
	Objective         string   `json:"objective"`
	NotesForHuman     string   `json:"notes_for_human,omitempty"`
}

// Spending is how much the model requests of a run may cost; 0 for no limit.
type Spending struct {
	Tokens   int64 `json:"tokens,omitempty"` // by the provider's count
	Requests int64 `json:"requests,omitempty"`
}

// Agent is the agent's part of a plan.
type Agent struct {
	Name     string    `json:"name"`
	Variant  string    `json:"variant"`
	Model    string    `json:"model,omitempty"`
	Provider string    `json:"provider"`
	Wire     wire.Wire `json:"wire"` // the model API it uses with the provider
	// Models are those the broker lets it ask for, as patterns; empty for any. Grants are what the provider may do
	// beyond answering.
	Models    []string              `json:"models"`
	Grants    []egress.Grant        `json:"grants"`
	Prompt    string                `json:"prompt"`
	Approvals document.ApprovalPlan `json:"approvals"`
	ReadOnly  bool                  `json:"read_only"` // the tree is mounted read-only, and a changed one is a violation
	Args      []string              `json:"args"`      // additional parameters of the profile
	Env       map[string]string     `json:"env"`       // of the profile
	MCP       []PlannedServer       `json:"mcp_servers"`
	Settings  agents.Settings       `json:"settings"` // this agent's own fields of the profile
}

// PlannedServer is one MCP server of a turn.
type PlannedServer struct {
	Name string `json:"name"`
	agents.Server
}

// Boxes describes every box of a run.
type Boxes struct {
	Image   string `json:"image"`
	Runtime string `json:"runtime"`
	// RequireTier is the least isolation the run accepts; "" for any.
	RequireTier sandbox.Tier      `json:"require_tier,omitempty"`
	Limits      sandbox.Limits    `json:"limits"`
	Env         map[string]string `json:"env"`
	SetupAllow  []string          `json:"setup_allow"`  // hosts open to setup commands only
	VerifyAllow []string          `json:"verify_allow"` // instead of them, to those on the captured tree
}

// SetupTree is the tree that setup commands of the verification run on. "" in plans of older versions means the captured one.
type SetupTree string

// Trees of set-up.
const (
	SetupOnBase     SetupTree = "base"
	SetupOnCaptured SetupTree = "captured"
)

// VerifyCommand is one measured command. Criteria are the indices of the
// criteria it decides. A command with neither criteria nor readings was only suggested.
type VerifyCommand struct {
	Command    string `json:"command"`
	Criteria   []int  `json:"criteria"`
	ExpectExit int    `json:"expect_exit"`
	Readings   []int  `json:"readings,omitempty"` // indices of the readings it decides
}

// Phase is one step of the fixed list and its own budget, 0 where only the limit of the whole run counts, and for
// settle, which never waits.
type Phase struct {
	Name          string `json:"name"`
	BudgetSeconds int    `json:"budget_seconds"`
}

// Environ is the profile's environment as name=value pairs, sorted.
func (a *Agent) Environ() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		list = append(list, name+"="+a.Env[name])
	}
	return list
}

// Servers are the MCP servers as an agent takes them.
func (a *Agent) Servers() []agents.Server {
	var list []agents.Server
	for _, s := range a.MCP {
		server := s.Server
		server.Name = s.Name
		list = append(list, server)
	}
	return list
}

// ProviderName is the provider that the agent uses, "" without an agent.
func (p *Plan) ProviderName() string {
	if p.Agent == nil {
		return ""
	}
	return p.Agent.Provider
}

// ReadOnlyTree says that the working box of a read-only run cannot change its
// tree. Setup commands may have to: then only the captured tree is judged.
func (p *Plan) ReadOnlyTree() bool {
	return p.Agent != nil && p.Agent.ReadOnly && len(p.Setup) == 0
}
