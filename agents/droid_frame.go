package agents

import (
	"encoding/json"
	"strings"
)

// droidAPI is the version every message of ours has to name.
const droidAPI = "1.0.0"

// maxDroidID bounds the id of a request or a call, in bytes.
const maxDroidID = 256

// droidFrame is one line of the CLI's output.
type droidFrame struct {
	Type   string          `json:"type"` // request, response or notification
	ID     string          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *droidError     `json:"error"`
}

type droidError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// droidMessage is one line of ours.
type droidMessage struct {
	JSONRPC string      `json:"jsonrpc"`
	API     string      `json:"factoryApiVersion"`
	Type    string      `json:"type"`
	ID      string      `json:"id"`
	Method  string      `json:"method,omitempty"`
	Params  any         `json:"params,omitempty"`
	Result  any         `json:"result,omitempty"`
	Error   *droidError `json:"error,omitempty"`
}

func droidRequest(id, method string, params any) droidMessage {
	return droidMessage{JSONRPC: "2.0", API: droidAPI, Type: "request", ID: id, Method: method, Params: params}
}

func droidResult(id string, result any) droidMessage {
	return droidMessage{JSONRPC: "2.0", API: droidAPI, Type: "response", ID: id, Result: result}
}

func droidRefusal(id, message string) droidMessage {
	return droidMessage{JSONRPC: "2.0", API: droidAPI, Type: "response", ID: id, Error: &droidError{Code: -32601, Message: message}}
}

// droidCall is a tool call as the CLI writes it.
type droidCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// droidBlock is one content block of a message.
type droidBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	droidCall
}

// droidTokens counts tokens of one turn of the CLI.
type droidTokens struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cacheReadTokens"`
	CacheWrite int64 `json:"cacheCreationTokens"`
}

// droidNote is a notification: the union of the fields that are read of any.
type droidNote struct {
	Type      string          `json:"type"`
	MessageID string          `json:"messageId"`
	TextDelta string          `json:"textDelta"`
	ToolUse   droidCall       `json:"toolUse"`
	ToolUseID string          `json:"toolUseId"`
	ToolName  string          `json:"toolName"`
	Phase     string          `json:"phase"`
	Content   json.RawMessage `json:"content"` // of a result: a string, or a list of blocks
	IsError   bool            `json:"isError"`
	Message   json.RawMessage `json:"message"` // an object, or the text of an error
	ErrorType string          `json:"errorType"`
	Attempt   int             `json:"attempt"`
	Reason    string          `json:"reason"`
	Tokens    droidTokens     `json:"tokenUsage"`
	Children  droidTokens     `json:"childTokenUsage"`
	Child     string          `json:"childSessionId"`
	Update    struct {
		Output string `json:"fullOutput"` // all of it up to now
	} `json:"update"`
	Settings struct {
		Autonomy string `json:"autonomyLevel"`
	} `json:"settings"`
}

// droidText joins the text of content in both its forms.
func droidText(content json.RawMessage) string {
	var text string
	if len(content) == 0 || json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []droidBlock
	if decode(content, &blocks) != nil {
		return string(content)
	}
	var said strings.Builder
	for _, b := range blocks {
		said.WriteString(b.Text)
	}
	return said.String()
}

// droidNamed says whether id can name something.
func droidNamed(id string) bool { return id != "" && len(id) <= maxDroidID }
