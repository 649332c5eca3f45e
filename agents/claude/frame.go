package claude

import (
	"encoding/json"
	"strings"

	"sandboxrun/agents/cli"
)

// frame is one line of Claude Code's output: the union of the fields that
// are read of any frame. What differs by frame stays raw.
type frame struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	Parent    string `json:"parent_tool_use_id"` // the task call of a subagent's frame

	// assistant and user frames
	Message        json.RawMessage `json:"message"`
	IsSynthetic    bool            `json:"isSynthetic"`
	APIError       bool            `json:"is_api_error_message"`
	ToolUseResult  json.RawMessage `json:"tool_use_result"` // an object, or a string on errors
	ToolResultMeta []toolMeta      `json:"tool_result_meta"`
	Error          string          `json:"error"` // also of api_retry
	APIErrorStatus int             `json:"api_error_status"`
	ToolUseID      string          `json:"tool_use_id"` // of permission_denied

	// control_request, control_response, control_cancel_request
	RequestID json.RawMessage `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Response  json.RawMessage `json:"response"`
}

// toolMeta says how a tool call was decided.
type toolMeta struct {
	ID       string `json:"id"`
	Decision struct {
		Decision string `json:"decision"` // accept or reject
	} `json:"permission_decision"`
}

// modelMessage is the message of an assistant or user frame.
type modelMessage struct {
	Content json.RawMessage `json:"content"` // a string, or a list of block
}

// block is one content block of a message.
type block struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"` // of tool_use
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	// of tool_result
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// readContent reads the content of an assistant or user frame.
func readContent(f frame) ([]block, []json.RawMessage, error) {
	var m modelMessage
	if err := cli.Decode(f.Message, &m); err != nil {
		return nil, nil, err
	}
	return readBlocks(m.Content)
}

// readBlocks reads content in both its forms. Each block also comes as it
// was, for blocks of an unknown kind.
func readBlocks(content json.RawMessage) ([]block, []json.RawMessage, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}, []json.RawMessage{content}, nil
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(content, &raws); err != nil {
		return nil, nil, err
	}
	blocks := make([]block, len(raws))
	for i, r := range raws {
		if err := cli.Decode(r, &blocks[i]); err != nil {
			return nil, nil, err
		}
	}
	return blocks, raws, nil
}

// plainText joins the text of content in both its forms.
func plainText(content json.RawMessage) string {
	blocks, _, err := readBlocks(content)
	if err != nil {
		return string(content)
	}
	return blocksText(blocks)
}

// blocksText joins the text of blocks.
func blocksText(blocks []block) string {
	var said strings.Builder
	for _, b := range blocks {
		said.WriteString(b.Text)
	}
	return said.String()
}
