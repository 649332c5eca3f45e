package document

import (
	"encoding/json"
	"time"
)

// SchemaVersion is written into every result document.
const SchemaVersion = "1.0"

// Result is the one document a run ends with. Everything in it was measured by
// the runner unless the field says that it is a claim.
type Result struct {
	SchemaVersion string           `json:"schema_version"`
	TaskID        string           `json:"task_id"`
	RunID         string           `json:"run_id"`
	Status        Status           `json:"status"`
	Summary       string           `json:"summary"`
	FilesChanged  []FileChange     `json:"files_changed"`
	FilesOmitted  int              `json:"files_changed_omitted,omitempty"` // changed files beyond the bound of the list
	CommandsRun   []CommandRun     `json:"commands_run"`
	Tests         Tests            `json:"tests"`
	Logs          []string         `json:"logs"`
	Issues        []Issue          `json:"issues"`
	Constraints   []Judged         `json:"constraints"`
	Acceptance    []Judged         `json:"acceptance"`
	Claims        []Claim          `json:"claims,omitzero"` // of the agent, beside what was measured; missing without an agent
	Git           GitResult        `json:"git"`
	Agent         *AgentResult     `json:"agent,omitempty"`
	Session       *SessionResult   `json:"session,omitempty"` // missing without one
	Box           *BoxResult       `json:"box,omitempty"`
	Timing        map[string]int64 `json:"timing"`            // milliseconds per phase, and "total"
	Journal       *JournalHead     `json:"journal,omitempty"` // missing where no event could be stored
	NotesForHuman string           `json:"notes_for_human,omitempty"`
	StartedAt     time.Time        `json:"started_at"`
	EndedAt       time.Time        `json:"ended_at"`
}

// JournalHead is the end of a run's journal. Each line of the journal holds the sum of the line before, so that these
// two vouch for all of them.
type JournalHead struct {
	Events int64  `json:"events"` // number of the last event
	SHA256 string `json:"sha256"` // of the last line with its newline, in hexadecimal
}

// Status is the verdict over a whole run.
type Status string

// Statuses.
const (
	StatusSuccess Status = "success"
	StatusPartial Status = "partial"
	StatusFailed  Status = "failed"
)

// FileChange is one entry of the diff from the base tree to the captured tree.
type FileChange struct {
	Path       string   `json:"path"`
	PathB64    string   `json:"path_b64,omitempty"` // exact bytes, only where Path is not valid UTF-8
	ChangeType string   `json:"change_type"`
	Highlights []string `json:"highlights"`
	OldPath    string   `json:"old_path,omitempty"`
	Additions  int      `json:"additions"`
	Deletions  int      `json:"deletions"`
	Binary     bool     `json:"binary,omitempty"`
	ModeChange string   `json:"mode_change,omitempty"`
}

// CommandRun is one command; only Source "runner" was measured by us.
type CommandRun struct {
	Command       string `json:"command"`
	ExitCode      *int   `json:"exit_code"` // null when unknown
	StdoutExcerpt string `json:"stdout_excerpt"`
	StderrExcerpt string `json:"stderr_excerpt"`
	Source        string `json:"source"`
	Phase         string `json:"phase"`
	DurationMS    int64  `json:"duration_ms"`
	TimedOut      bool   `json:"timed_out"`
	Truncated     bool   `json:"truncated"`
}

// Tests sums up the commands of the verification. Passed is null when nothing
// was there to be run.
type Tests struct {
	Passed  *bool  `json:"passed"`
	Details string `json:"details"`
}

// Issue is one thing a person or a caller should know about a run.
type Issue struct {
	Type            IssueType `json:"type"`
	Code            string    `json:"code"`
	Description     string    `json:"description"`
	SuggestedAction string    `json:"suggested_action"`
	Path            string    `json:"path,omitempty"`
	// Limit is the limit that an issue is about.
	Limit *ReachedLimit `json:"limit,omitempty"`
}

// ReachedLimit says which limit ended a run, in the unit of its name.
type ReachedLimit struct {
	Name     string `json:"name"`
	Allowed  int64  `json:"allowed"`
	Measured int64  `json:"measured"`
}

// IssueType is the coarse kind of an issue.
type IssueType string

// Issue types.
const (
	IssueTestFailure        IssueType = "test_failure"
	IssueEnv                IssueType = "env_issue"
	IssueUnclearRequirement IssueType = "unclear_requirement"
	IssueConflict           IssueType = "conflict"
)

// Judged is one constraint or acceptance criterion with its verdict.
type Judged struct {
	Text     string `json:"text"`
	Check    string `json:"check"`   // kind of the check, "command", or "none"; several of a sentence are joined by ", "
	Verdict  string `json:"verdict"` // pass, fail or unverifiable
	Evidence string `json:"evidence"`
	// Checks are what a sentence was read as, each with its own verdict, of which the worst counts; missing for an object. Rest are the
	// words of the sentence that nothing measures.
	Checks []JudgedCheck `json:"checks,omitempty"`
	Rest   string        `json:"rest,omitempty"`
}

// JudgedCheck is one demand of a sentence with its verdict: a kind of check with parameters, or a command.
type JudgedCheck struct {
	Kind       string          `json:"kind,omitempty"`
	Params     json.RawMessage `json:"params,omitempty"`
	Command    string          `json:"command,omitempty"`
	ExpectExit *int            `json:"expect_exit,omitempty"`
	Words      string          `json:"words"` // of the sentence, that it rests on
	Verdict    string          `json:"verdict"`
	Evidence   string          `json:"evidence"`
}

// GitResult names the objects of a run. Fields are empty when there are none.
type GitResult struct {
	BaseCommit string `json:"base_commit"`
	Tree       string `json:"tree"`
	Commit     string `json:"commit,omitempty"`
	Branch     string `json:"branch,omitempty"`
	Patch      string `json:"patch,omitempty"`
	// Refused are the reasons against using the change as it is; Apply refuses with the same words.
	Refused []Refusal `json:"refused,omitempty"`
}

// AgentResult is what is known of the agent; Claim is its own word.
type AgentResult struct {
	Name       string     `json:"name"`
	Variant    string     `json:"variant"`
	CLIVersion string     `json:"cli_version"`
	Model      string     `json:"model"`
	SessionID  string     `json:"session_id"`
	Claim      string     `json:"claim"`
	Usage      AgentUsage `json:"usage"`
}

// SessionResult is the run's place in its session.
type SessionResult struct {
	ID       string `json:"id"`
	RunIndex int    `json:"run_index"`          // from 1
	Resumed  bool   `json:"resumed"`            // went on with an earlier conversation
	RetryOf  string `json:"retry_of,omitempty"` // run whose place it took
}

// AgentUsage counts model tokens: the broker's own count, and the CLI's claim
// of its cost.
type AgentUsage struct {
	Requests         int64   `json:"requests"`
	InputTokens      int64   `json:"input_tokens"`
	OutputTokens     int64   `json:"output_tokens"`
	CacheReadTokens  int64   `json:"cache_read_tokens"`
	CacheWriteTokens int64   `json:"cache_write_tokens"`
	RequestBytes     int64   `json:"request_bytes"`
	ResponseBytes    int64   `json:"response_bytes"`
	ClaimedCostUSD   float64 `json:"claimed_cost_usd"`
}

// BoxResult is what the engine really made, and whether all of it is gone.
type BoxResult struct {
	Engine      string     `json:"engine"`
	Runtime     string     `json:"runtime"`
	Tier        string     `json:"tier"` // what the engine vouches for, see sandbox.Tier; "" when no box was made
	Image       string     `json:"image"`
	ImageDigest string     `json:"image_digest"`
	Layout      string     `json:"layout"` // overlay or copy
	Limits      BoxLimits  `json:"limits"`
	Network     BoxNetwork `json:"network"`
	Cleanup     BoxCleanup `json:"cleanup"`
}

// BoxLimits are the limits the box ran under.
type BoxLimits struct {
	MemoryBytes       int64   `json:"memory_bytes"`
	CPUs              float64 `json:"cpus"`
	PIDs              int64   `json:"pids"`
	DiskBytes         int64   `json:"disk_bytes"`
	OutputBytes       int64   `json:"output_bytes"`
	MaxRuntimeSeconds int     `json:"runtime_seconds"`
}

// BoxNetwork says what the box could reach.
type BoxNetwork struct {
	Mode     string   `json:"mode"`     // always "none": the tunnel is the only way out
	Provider string   `json:"provider"` // model provider the broker served, "" for none
	Setup    []string `json:"setup_allow"`
	Denied   []string `json:"denied"` // names that were asked for and refused, bounded
	// VerifyAllow are the hosts that were open to set-up of the verification; nil where that did not run on the change.
	VerifyAllow []string `json:"verify_allow,omitzero"`
	// Connections are the targets that setup commands connected to, bounded; ConnectionsOmitted counts connections to others.
	Connections        []Connection `json:"connections,omitempty"`
	ConnectionsOmitted int          `json:"connections_omitted,omitempty"`
}

// Connection sums up what passed between boxes and one target.
type Connection struct {
	Name          string `json:"name"`  // host:port
	Phase         string `json:"phase"` // prepare or verify
	Count         int    `json:"count"`
	Failed        int    `json:"failed"` // of them, those that were not established or broke
	RequestBytes  int64  `json:"request_bytes"`
	ResponseBytes int64  `json:"response_bytes"`
}

// BoxCleanup is the checked postcondition of a run.
type BoxCleanup struct {
	Complete bool     `json:"complete"`
	Left     []string `json:"left"`
}

// Refusal is one reason for which a change is not to be used as it is. Apply asks for the code before it writes.
type Refusal struct {
	Code        string `json:"code"`           // an issue code
	Path        string `json:"path,omitempty"` // the first path it is about
	Description string `json:"description"`
}
