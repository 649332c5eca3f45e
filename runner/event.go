package runner

import (
	"encoding/json"
	"time"
)

// Event is one line of a run's journal and one message of its streams.
type Event struct { //nolint:recvcheck // marshals without an address; line changes it
	Seq   int64           `json:"seq"` // from 1, without gaps
	Time  time.Time       `json:"time"`
	Run   string          `json:"run"`
	Phase string          `json:"phase"`
	Kind  string          `json:"kind"`
	Data  json.RawMessage `json:"data"`
}

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
