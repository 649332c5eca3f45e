package pi

import (
	"encoding/json"
	"strings"
)

// maxID bounds the id of a request, a call or a session, in bytes.
const maxID = 256

// command is one line of ours.
type command struct {
	ID      string `json:"id,omitempty"`
	Type    string `json:"type"`
	Message string `json:"message,omitempty"` // of a prompt
}

// dialogAnswer answers a dialog of an extension: with a value, or with nothing.
type dialogAnswer struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Value     string `json:"value,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
}

const dialogAnswerType = "extension_ui_response"

// frame is one line of the CLI's output: the union of the fields that are read
// of any.
type frame struct {
	Type string `json:"type"`
	ID   string `json:"id"` // of a response, or of a dialog

	// Responses.
	Success *bool           `json:"success"`
	Error   string          `json:"error"` // also of extension_error
	Data    json.RawMessage `json:"data"`

	// Dialogs and notices of extensions.
	Method     string `json:"method"`
	Title      string `json:"title"`
	Prefill    string `json:"prefill"`
	StatusKey  string `json:"statusKey"`
	StatusText string `json:"statusText"`

	// Messages are objects; a notice of an extension has its text here.
	Message json.RawMessage `json:"message"`

	// Calls.
	CallID  string          `json:"toolCallId"`
	Tool    string          `json:"toolName"`
	Input   json.RawMessage `json:"args"`
	Partial result          `json:"partialResult"`
	Result  result          `json:"result"`
	IsError bool            `json:"isError"`

	// Attempts and compaction.
	Attempt      int    `json:"attempt"`
	ErrorMessage string `json:"errorMessage"`
	Aborted      bool   `json:"aborted"`
}

// message is one message of the conversation.
type message struct {
	Role       string            `json:"role"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stopReason"`
	Error      string            `json:"errorMessage"`
	Usage      struct {
		Input      int64 `json:"input"`
		Output     int64 `json:"output"`
		CacheRead  int64 `json:"cacheRead"`
		CacheWrite int64 `json:"cacheWrite"`
		Cost       struct {
			Total float64 `json:"total"`
		} `json:"cost"`
	} `json:"usage"`
}

// block is one content block of a message or of a result.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

// result is what a tool gives the model.
type result struct {
	Content []block `json:"content"`
}

func (r result) text() string {
	var all strings.Builder
	for _, b := range r.Content {
		all.WriteString(b.Text)
	}
	return all.String()
}

// validID says whether id can name something.
func validID(id string) bool { return id != "" && len(id) <= maxID }
