package journal

import (
	"encoding/json"
	"time"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
)

// Kinds of events the runner itself writes; the others are agents.Kind values.
const (
	EventRunStarted       = "run_started"
	EventRunEnded         = "run_ended"
	EventPhaseStarted     = "phase_started"
	EventPhaseEnded       = "phase_ended"
	EventCommandOutput    = "command_output"
	EventApprovalAsked    = "approval_asked"
	EventApprovalAnswered = "approval_answered"
	EventUsage            = "usage"
	EventFileChanged      = "file_changed"
	EventEgressDenied     = "egress_denied"
	EventLimitReached     = "limit_reached"
	EventTruncated        = "truncated"
	EventSystemMessage    = "system_message"
	EventErrorMessage     = "error_message"
)

// EventData is the data of one kind of event that the runner writes. Writers,
// readers and the schema of events share these types. Events of an agent carry
// the types of package agents.
type EventData interface{ EventKind() string }

// RunStarted opens a journal.
type RunStarted struct {
	TaskID     string `json:"task_id"`
	Objective  string `json:"objective"`
	Version    string `json:"version"` // of this program
	BaseCommit string `json:"base_commit"`
	Engine     string `json:"engine"` // name and version
}

// RunEnded closes a journal.
type RunEnded struct {
	Status  document.Status `json:"status"`
	Summary string          `json:"summary"`
}

// PhaseStarted has no particulars: the event names the phase.
type PhaseStarted struct{}

// PhaseEnded says how a phase went.
type PhaseEnded struct {
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"`
}

// CommandOutput is a command that the runner ran. The command_output of an
// agent is an agents.CommandOutput instead and has no source.
type CommandOutput struct{ document.CommandRun }

// FileChanged is one entry of the diff.
type FileChanged struct{ document.FileChange }

// SystemMessage is a remark of the runner.
type SystemMessage struct {
	Text string `json:"text"`
}

// EgressDenied is something that a process of a box asked for and may not have.
type EgressDenied struct {
	Name    string `json:"name"` // host:port, a looked-up name, or provider and path
	Reason  string `json:"reason"`
	Method  string `json:"method"`            // "" for tunnels and names
	Count   int    `json:"count"`             // how many refusals it stands for
	Address string `json:"address,omitempty"` // private address that an allowed name stands for
}

// BrokerUsage is one model request that the broker forwarded; Source is UsageOfBroker.
type BrokerUsage struct {
	Source           string `json:"source"`
	Provider         string `json:"provider"`
	Method           string `json:"method"`
	Path             string `json:"path"`
	Status           int    `json:"status"` // HTTP status that the box saw
	Reason           string `json:"reason"` // why it failed; "" when it went well
	Model            string `json:"model"`
	RequestBytes     int64  `json:"request_bytes"`
	ResponseBytes    int64  `json:"response_bytes"`
	InputTokens      int64  `json:"input_tokens"`
	OutputTokens     int64  `json:"output_tokens"`
	CacheReadTokens  int64  `json:"cache_read_tokens"`
	CacheWriteTokens int64  `json:"cache_write_tokens"`
	DurationMS       int64  `json:"duration_ms"`
}

// ProxyUsage is one connection that the allow-list proxy carried, or tried to;
// Source is UsageOfProxy.
type ProxyUsage struct {
	Source        string `json:"source"`
	Name          string `json:"name"` // host:port
	Reason        string `json:"reason"`
	RequestBytes  int64  `json:"request_bytes"`
	ResponseBytes int64  `json:"response_bytes"`
	DurationMS    int64  `json:"duration_ms"`
}

// Sources of usage events of the runner. Those of an agent have none.
const (
	UsageOfBroker = "broker"
	UsageOfProxy  = "proxy"
)

// LimitReached says which limit ended the work.
type LimitReached struct {
	Limit   sandbox.Limit          `json:"limit"`
	Detail  string                 `json:"detail"`
	Reached *document.ReachedLimit `json:"reached"` // null where nothing was measured
}

// ApprovalAsked is a request of the agent as it was put to rules and people.
type ApprovalAsked struct {
	ID         string            `json:"id"` // within the run
	AgentID    string            `json:"agent_id"`
	ToolID     string            `json:"tool_id"`
	Tool       string            `json:"tool"`
	Action     agents.Action     `json:"action"`
	Digest     string            `json:"digest"` // see Pending
	InputBytes int               `json:"input_bytes"`
	Input      json.RawMessage   `json:"input"` // a string with head and tail where it is large
	Deadline   time.Time         `json:"deadline"`
	Policy     document.Approval `json:"policy"`
	Questions  []agents.Question `json:"questions,omitempty"`
}

// ApprovalAnswered is the decision about the request of the same ID.
type ApprovalAnswered struct {
	ID       string `json:"id"`
	Digest   string `json:"digest"`
	Allow    bool   `json:"allow"`
	Reason   string `json:"reason"`
	By       string `json:"by"` // a rule, the policy, a person, or nobody
	TimedOut bool   `json:"timed_out"`
}

// Truncated stands for an event that is too large for the journal.
type Truncated struct {
	Reason string `json:"reason"` // "line" or "journal": what was exceeded
	Kind   string `json:"kind"`   // of the event
	Bytes  int64  `json:"bytes"`
	ID     string `json:"id,omitempty"` // of a tool's call or result
	Head   string `json:"head,omitempty"`
}

// EventKind implements EventData.
func (RunStarted) EventKind() string { return EventRunStarted }

// EventKind implements EventData.
func (RunEnded) EventKind() string { return EventRunEnded }

// EventKind implements EventData.
func (PhaseStarted) EventKind() string { return EventPhaseStarted }

// EventKind implements EventData.
func (PhaseEnded) EventKind() string { return EventPhaseEnded }

// EventKind implements EventData.
func (CommandOutput) EventKind() string { return EventCommandOutput }

// EventKind implements EventData.
func (FileChanged) EventKind() string { return EventFileChanged }

// EventKind implements EventData.
func (SystemMessage) EventKind() string { return EventSystemMessage }

// EventKind implements EventData.
func (EgressDenied) EventKind() string { return EventEgressDenied }

// EventKind implements EventData.
func (BrokerUsage) EventKind() string { return EventUsage }

// EventKind implements EventData.
func (ProxyUsage) EventKind() string { return EventUsage }

// EventKind implements EventData.
func (LimitReached) EventKind() string { return EventLimitReached }

// EventKind implements EventData.
func (ApprovalAsked) EventKind() string { return EventApprovalAsked }

// EventKind implements EventData.
func (ApprovalAnswered) EventKind() string { return EventApprovalAnswered }

// EventKind implements EventData.
func (Truncated) EventKind() string { return EventTruncated }
