// Package document reads what callers write and makes what they get: tasks,
// strictly decoded and validated, results with their issues, error documents and
// exit codes. It inspects nothing but data.
package document

import (
	"encoding/json"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// Task is one piece of work for an untrusted agent, as the caller wrote it.
// Field names are the wire contract; schemas/task.schema.json is its full form.
type Task struct {
	TaskID             string       `json:"task_id,omitempty"`
	Objective          string       `json:"objective"`
	Context            TaskContext  `json:"context"`
	Instructions       string       `json:"instructions,omitempty"`
	Constraints        []Constraint `json:"constraints,omitempty"`
	AcceptanceCriteria []Criterion  `json:"acceptance_criteria,omitempty"`
	ExecutionMode      Mode         `json:"execution_mode,omitempty"`
	SuggestedCommands  []string     `json:"suggested_commands,omitempty"`
	MaxRuntimeSeconds  int          `json:"max_runtime_seconds,omitempty"`
	// Limits of the model requests; 0 for those of the configuration.
	MaxTokens      int64        `json:"max_tokens,omitempty"`
	MaxRequests    int64        `json:"max_requests,omitempty"`
	NotesForHuman  string       `json:"notes_for_human,omitempty"`
	Agent          *AgentChoice `json:"agent,omitempty"`
	SetupCommands  []string     `json:"setup_commands,omitempty"`
	SetupInputs    []string     `json:"setup_inputs,omitzero"` // nil: the usual files
	ProtectedPaths []string     `json:"protected_paths,omitempty"`
	Baseline       bool         `json:"baseline,omitempty"`
	Box            *BoxRequest  `json:"box,omitempty"`
	Land           Land         `json:"land,omitempty"`
	Approvals      *Approvals   `json:"approvals,omitempty"`
	SessionID      string       `json:"session_id,omitempty"`
	RetryProcessID string       `json:"retry_process_id,omitempty"` // run of the session to go back before
	ForceWhenDirty bool         `json:"force_when_dirty,omitempty"` // go back also with uncommitted changes
	Strict         bool         `json:"strict,omitempty"`           // refuse sentences that nothing measures

	// MCPServers are servers of the agent's turn, by name.
	MCPServers map[string]agents.Server `json:"mcp_servers,omitempty"`
}

// TaskContext says where the work happens.
type TaskContext struct {
	RepoRoot        string   `json:"repo_root"`
	FilesOfInterest []string `json:"files_of_interest,omitempty"`
	Base            string   `json:"base,omitempty"`          // revision, default HEAD
	IncludeDirty    bool     `json:"include_dirty,omitempty"` // start from the uncommitted state
}

// Mode says who works: the agent, the suggested commands, or both.
type Mode string

// Execution modes.
const (
	ModeCode    Mode = "code"
	ModeCommand Mode = "command"
	ModeMixed   Mode = "mixed"
)

// Land says what a changed tree becomes in the user's repository.
type Land string

// Ways to land.
const (
	LandBranch Land = "branch" // one new ref
	LandNone   Land = "none"   // nothing
)

// Constraint is a sentence, or an object with a kind that names a check.
type Constraint struct {
	Text   string          // the sentence, or the compact JSON of the object
	Kind   string          // "" for a sentence
	Params json.RawMessage // the whole object
}

// Criterion is a sentence, or a command with the exit code it must have.
type Criterion struct {
	Text       string // the sentence, "" for a command
	Command    string
	ExpectExit int
}

// AgentChoice names an agent; a bare string is its name.
type AgentChoice struct {
	Name    string `json:"name,omitempty"`
	Variant string `json:"variant,omitempty"`
	Model   string `json:"model,omitempty"`
	// Provider is a name of the configuration's; the agent's first one that is
	// configured where it is missing.
	Provider string `json:"provider,omitempty"`
	// Grants are what the provider may do for the run beyond answering.
	Grants []egress.Grant `json:"grants,omitempty"`
}

// BoxRequest is what a task may ask of its box. Everything else is decided by
// the program and the user's configuration.
type BoxRequest struct {
	Image   string `json:"image,omitempty"`
	Runtime string `json:"runtime,omitempty"`
	// RequireTier can only ask for more than the configuration does.
	RequireTier sandbox.Tier      `json:"require_tier,omitempty"`
	Memory      Size              `json:"memory,omitempty"`
	CPUs        float64           `json:"cpus,omitempty"`
	PIDs        int64             `json:"pids,omitempty"`
	Disk        Size              `json:"disk,omitempty"`
	Network     *NetworkRequest   `json:"network,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
}

// NetworkRequest lists the hosts that setup commands may reach: Allow while they run on the base tree. VerifyAllow has them
// run on the captured tree for the verification, where they may reach these hosts and no others; nil: on the base tree.
type NetworkRequest struct {
	Allow       []string `json:"allow,omitempty"`
	VerifyAllow []string `json:"verify_allow,omitzero"`
}

// Size is a number of bytes; in JSON an integer, or a string with a binary
// suffix ("256m", "4g").
type Size int64
