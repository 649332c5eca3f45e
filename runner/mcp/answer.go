package mcp

import (
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/service"
)

// answer is what a tool answers.
type answer struct {
	value any    // marshals to one JSON object
	note  string // said beside it, "" for nothing
}

// result has the document twice: clients read the one or the other.
func (a answer) result() *sdk.CallToolResult {
	text, err := json.Marshal(a.value)
	if err != nil {
		return failed(fmt.Errorf("encode answer: %w", err))
	}
	r := &sdk.CallToolResult{StructuredContent: json.RawMessage(text), Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}
	if a.note != "" {
		r.Content = append(r.Content, &sdk.TextContent{Text: a.note})
	}
	return r
}

// failed is the error document as an answer that the model of the client can act on.
func failed(err error) *sdk.CallToolResult {
	body := document.DescribeError(err)
	if p, ok := errors.AsType[*service.Problem](err); ok {
		body.Code = p.Code
	}
	r := answer{value: map[string]any{"error": body}}.result()
	r.IsError = true
	return r
}

const (
	// maxResult is the size in bytes above which a result is shortened: models read it, and clients cut it anywhere.
	maxResult = 48 << 10
	// shortList and shortText bound the lists and texts of a shortened result, fewest those of one that is still too long.
	shortList, shortText   = 100, 2000
	fewestItems, fewestOne = 10, 300
)

// resultAnswer is a stored result, shortened where it is too long for a conversation.
func resultAnswer(doc []byte) (answer, error) {
	var whole map[string]any
	if err := json.Unmarshal(doc, &whole); err != nil {
		return answer{}, fmt.Errorf("read result: %w", err)
	}
	if len(doc) <= maxResult {
		return answer{value: json.RawMessage(doc)}, nil
	}
	for _, bound := range []struct{ items, bytes int }{{shortList, shortText}, {fewestItems, fewestOne}} {
		shorten(whole, bound.items, bound.bytes)
		text, err := json.Marshal(whole)
		if err != nil {
			return answer{}, fmt.Errorf("encode result: %w", err)
		}
		if len(text) <= maxResult {
			break
		}
	}
	id, _ := whole["run_id"].(string)
	return answer{value: whole, note: fmt.Sprintf("The result is shortened: lists and texts were cut. \"sandboxrun runs show --json %s\" prints all of it, get_diff the change.", id)}, nil
}

// shorten cuts every list and text of a result, so that it keeps its form.
func shorten(result map[string]any, items, bytes int) {
	if files, ok := result["files_changed"].([]any); ok && len(files) > items {
		before, _ := result["files_changed_omitted"].(float64) // as numbers of JSON are read
		result["files_changed_omitted"] = before + float64(len(files)-items)
	}
	result["logs"] = []any{}
	for key, value := range result {
		result[key] = shortened(value, items, bytes)
	}
}

func shortened(value any, items, bytes int) any {
	switch v := value.(type) {
	case string:
		return excerpt.HeadTail(v, bytes)
	case []any:
		v = v[:min(items, len(v))]
		for i := range v {
			v[i] = shortened(v[i], items, bytes)
		}
		return v
	case map[string]any:
		for key, inner := range v {
			v[key] = shortened(inner, items, bytes)
		}
		return v
	}
	return value
}
