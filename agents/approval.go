package agents

import "context"

// Approver decides about tool calls and answers questions.
type Approver interface {
	// Approve returns when the request is decided. A cancelled ctx denies.
	Approve(ctx context.Context, r ApprovalRequest) Decision
}

// ApprovalRequest is one tool call an agent asks permission for, or one set of
// questions it asks the user.
type ApprovalRequest struct {
	ID     string // the agent's own id of the request
	ToolID string // joins tool_call and tool_result events
	Tool   string
	Action Action
	Input  []byte // the exact JSON bytes the agent wants to run
	// Command is the command line of an ActionCommand, Paths are the files a
	// call would touch, both as the agent gives them; empty where it does not.
	Command string
	Paths   []string
	// Questions is not empty when the agent asks the user something instead.
	Questions []Question
}

// Question is one thing an agent asks the user.
type Question struct {
	ID       string           `json:"id"` // the agent's own key of the answer
	Text     string           `json:"text"`
	Options  []QuestionOption `json:"options,omitempty"` // none: any words
	Multiple bool             `json:"multiple,omitempty"`
}

// QuestionOption is one answer an agent offers.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Decision answers an ApprovalRequest. The zero value denies.
type Decision struct {
	Allow  bool
	Reason string // told to the model on denial
	// Answers are given to questions, by Question.ID; only with Allow.
	Answers map[string][]string
}
