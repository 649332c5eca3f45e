package droid

import (
	"encoding/json"
	"strings"

	"sandboxrun/agents/cli"
)

// apiVersion is the version every message of ours has to name.
const apiVersion = "1.0.0"

// maxID bounds the id of a request or a call, in bytes.
const maxID = 256

// frame is one line of the CLI's output.
type frame struct {
	Type   string          `json:"type"` // request, response or notification
	ID     string          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// rpcMessage is one line of ours.
type rpcMessage struct {
	JSONRPC string    `json:"jsonrpc"`
	API     string    `json:"factoryApiVersion"`
	Type    string    `json:"type"`
	ID      string    `json:"id"`
	Method  string    `json:"method,omitempty"`
	Params  any       `json:"params,omitempty"`
	Result  any       `json:"result,omitempty"`
	Error   *rpcError `json:"error,omitempty"`
}

func newRequest(id, method string, params any) rpcMessage {
	return rpcMessage{JSONRPC: "2.0", API: apiVersion, Type: "request", ID: id, Method: method, Params: params}
}

func newResult(id string, result any) rpcMessage {
	return rpcMessage{JSONRPC: "2.0", API: apiVersion, Type: "response", ID: id, Result: result}
}

func newRefusal(id, message string) rpcMessage {
	return rpcMessage{JSONRPC: "2.0", API: apiVersion, Type: "response", ID: id, Error: &rpcError{Code: -32601, Message: message}}
}

// callMethod is a tool call as the CLI writes it.
type callMethod struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// block is one content block of a message.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	callMethod
}

// tokens counts tokens of one turn of the CLI.
type tokens struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cacheReadTokens"`
	CacheWrite int64 `json:"cacheCreationTokens"`
}

// notification is a notification: the union of the fields that are read of any.
type notification struct {
	Type      string          `json:"type"`
	MessageID string          `json:"messageId"`
	TextDelta string          `json:"textDelta"`
	ToolUse   callMethod      `json:"toolUse"`
	ToolUseID string          `json:"toolUseId"`
	ToolName  string          `json:"toolName"`
	Phase     string          `json:"phase"`
	Content   json.RawMessage `json:"content"` // of a result: a string, or a list of blocks
	IsError   bool            `json:"isError"`
	Message   json.RawMessage `json:"message"` // an object, or the text of an error
	ErrorType string          `json:"errorType"`
	Attempt   int             `json:"attempt"`
	Reason    string          `json:"reason"`
	Tokens    tokens          `json:"tokenUsage"`
	Children  tokens          `json:"childTokenUsage"`
	Child     string          `json:"childSessionId"`
	Update    struct {
		Output string `json:"fullOutput"` // all of it up to now
	} `json:"update"`
	Settings struct {
		Autonomy string `json:"autonomyLevel"`
	} `json:"settings"`
}

// plainText joins the text of content in both its forms.
func plainText(content json.RawMessage) string {
	var text string
	if len(content) == 0 || json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []block
	if cli.Decode(content, &blocks) != nil {
		return string(content)
	}
	var said strings.Builder
	for _, b := range blocks {
		said.WriteString(b.Text)
	}
	return said.String()
}

// validID says whether id can name something.
func validID(id string) bool { return id != "" && len(id) <= maxID }
