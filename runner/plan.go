package runner

import (
	"sandboxrun/agents"
	"sandboxrun/sandbox"
)

// Plan is what a task compiles to: plain data, printed by "sandboxrun plan".
// Whatever the machine decides later (ids, resolved commits, image digests,
// uids) is not in it.
type Plan struct {
	TaskID       string          `json:"task_id,omitempty"` // "" until the run names it
	RepoRoot     string          `json:"repo_root"`
	Base         string          `json:"base"` // revision to resolve
	IncludeDirty bool            `json:"include_dirty"`
	Mode         Mode            `json:"execution_mode"`
	Agent        *AgentPlan      `json:"agent,omitempty"` // nil in command mode
	Box          BoxPlan         `json:"box"`
	Setup        []string        `json:"setup"`  // both boxes, allow-list open
	Work         []string        `json:"work"`   // after the agent, in its box; what they change counts
	Verify       []VerifyCommand `json:"verify"` // fresh box on the captured tree
	Baseline     bool            `json:"baseline"`
	Criteria     []Criterion     `json:"criteria"`
	Constraints  []Constraint    `json:"constraints"`
	Protected    []string        `json:"protected_paths"`
	Land         Land            `json:"land"`
	// Session is the session the run belongs to, Retry the run of it whose place
	// this one takes, "" for a run after the last; ForceWhenDirty lets a retry go
	// back although the user's tree has uncommitted changes.
	Session        string `json:"session_id,omitempty"`
	Retry          string `json:"retry_process_id,omitempty"`
	ForceWhenDirty bool   `json:"force_when_dirty,omitempty"`

	LimitSeconds  int         `json:"limit_seconds"` // hard limit of the whole run
	Phases        []PhasePlan `json:"phases"`
	Objective     string      `json:"objective"`
	NotesForHuman string      `json:"notes_for_human,omitempty"`
}

// AgentPlan is the agent's part of a plan.
type AgentPlan struct {
	Name      string            `json:"name"`
	Variant   string            `json:"variant"`
	Model     string            `json:"model,omitempty"`
	Provider  string            `json:"provider"`
	Wire      agents.Wire       `json:"wire"` // the model API it speaks with the provider
	Prompt    string            `json:"prompt"`
	Approvals ApprovalPlan      `json:"approvals"`
	ReadOnly  bool              `json:"read_only"` // the tree is mounted read-only, and a changed one is a violation
	Args      []string          `json:"args"`      // additional parameters of the profile
	Env       map[string]string `json:"env"`       // of the profile
	MCP       []PlannedServer   `json:"mcp_servers"`
	Settings  agents.Settings   `json:"settings"` // fields of the profile that are this agent's own
}

// PlannedServer is one MCP server of a turn.
type PlannedServer struct {
	Name string `json:"name"`
	agents.Server
}

// BoxPlan describes both boxes of a run.
type BoxPlan struct {
	Image   string `json:"image"`
	Runtime string `json:"runtime"`
	// RequireTier is the least isolation the run is content with; "" for any.
	RequireTier sandbox.Tier      `json:"require_tier,omitempty"`
	Limits      sandbox.Limits    `json:"limits"`
	Env         map[string]string `json:"env"`
	SetupAllow  []string          `json:"setup_allow"` // hosts open to setup commands only
}

// VerifyCommand is one measured command. Criteria are the indices of the
// criteria it decides; empty for a command that was only suggested.
type VerifyCommand struct {
	Command    string `json:"command"`
	Criteria   []int  `json:"criteria"`
	ExpectExit int    `json:"expect_exit"`
}

// PhasePlan is one step of the fixed list and its own budget, 0 where only the
// limit of the whole run counts, and for settle, which waits for nobody.
type PhasePlan struct {
	Name          string `json:"name"`
	BudgetSeconds int    `json:"budget_seconds"`
}
