package agents

import "encoding/json"

// Event is one normalized thing that happened in a turn.
type Event struct {
	Kind Kind
	Data any // the data type named at the kind, or json.RawMessage for KindRaw
}

// Kind is the kind of an event, one of the contract's names.
type Kind string

// Kinds that agents emit. The runner adds its own.
const (
	KindUserMessage      Kind = "user_message"      // Message
	KindAssistantMessage Kind = "assistant_message" // Message
	KindThinking         Kind = "thinking"          // Message
	KindToolCall         Kind = "tool_call"         // ToolCall
	KindToolResult       Kind = "tool_result"       // ToolResult
	KindCommandOutput    Kind = "command_output"    // CommandOutput
	KindSystemMessage    Kind = "system_message"    // Message
	KindErrorMessage     Kind = "error_message"     // Message
	KindUsage            Kind = "usage"             // Usage
	KindTruncated        Kind = "truncated"         // Truncated
	KindRaw              Kind = "raw"               // json.RawMessage
)

// Action classifies a tool call.
type Action string

// Actions of tool calls.
const (
	ActionEdit    Action = "edit"
	ActionCommand Action = "command"
	ActionRead    Action = "read"
	ActionSearch  Action = "search"
	ActionWeb     Action = "web"
	ActionMCP     Action = "mcp"
	ActionTask    Action = "task"
	ActionOther   Action = "other"
)

// How tool calls end: the values of ToolResult.Status.
const (
	StatusOK        = "ok"
	StatusError     = "error"     // the tool ran and failed
	StatusDenied    = "denied"    // it was not allowed to run
	StatusCancelled = "cancelled" // it was stopped, or the turn ended before it did
)

// Message is the data of message events.
type Message struct {
	Text string `json:"text"`
	Code string `json:"code,omitempty"` // of error messages, the agent's own word for it
	// Parent is the id of the task call whose subagent says this.
	Parent string `json:"parent,omitempty"`
}

// ToolCall is the data of KindToolCall.
type ToolCall struct {
	ID     string          `json:"id"`
	Tool   string          `json:"tool"`
	Action Action          `json:"action"`
	Input  json.RawMessage `json:"input"`
	Parent string          `json:"parent,omitempty"` // as in Message
}

// ToolResult is the data of KindToolResult; ID names the call. Every call has
// exactly one result, which a turn that ends early gives itself.
type ToolResult struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Text   string `json:"text"` // what the model was told
	// Command, ExitCode: set for ActionCommand calls where the CLI says them.
	Command  string `json:"command,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
}

// CommandOutput is the data of KindCommandOutput: what a command of the agent
// printed, by the agent's word. ID names the call.
type CommandOutput struct {
	ID     string `json:"id"`
	Stream string `json:"stream"` // stdout or stderr, as the CLI tells them apart
	Text   string `json:"text"`
}

// Truncated is the data of KindTruncated: something too long was left out.
type Truncated struct {
	What  string `json:"what"`
	Bytes int64  `json:"bytes"` // how much
}
