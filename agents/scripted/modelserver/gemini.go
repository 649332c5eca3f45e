package modelserver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"sandboxrun/internal/wire"
)

// gemini is the Gemini API, https://ai.google.dev/api/generate-content.
type gemini struct{}

var geminiFaults = map[int]string{
	400: "INVALID_ARGUMENT",
	401: "UNAUTHENTICATED",
	403: "PERMISSION_DENIED",
	404: "NOT_FOUND",
	429: "RESOURCE_EXHAUSTED",
	500: "INTERNAL",
	503: "UNAVAILABLE",
	504: "DEADLINE_EXCEEDED",
}

// gemini sends a request on by the method at the end of its path.
func (s *Server) gemini(w http.ResponseWriter, r *http.Request) {
	_, method, _ := strings.Cut(r.PathValue("call"), ":")
	switch {
	case method == "generateContent", method == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse":
		s.ask(gemini{})(w, r)
	case method == "countTokens":
		s.count(gemini{}, map[string]int{"totalTokens": inputTokens})(w, r)
	default:
		s.remember(address(r))
		refuse(w, gemini{}, Fault{Status: http.StatusNotFound, Message: "no such method here, or not without alt=sse: " + method})
	}
}

// geminiPart is a piece of a message.
type geminiPart struct {
	Text         string `json:"text"`
	FunctionCall *struct {
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string                     `json:"id"`
		Name     string                     `json:"name"`
		Response map[string]json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

func (gemini) parse(r *http.Request, body []byte) (question, error) {
	var in struct {
		Contents []struct {
			Role  string       `json:"role"`
			Parts []geminiPart `json:"parts"`
		} `json:"contents"`
		Tools []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Config struct {
			Type       string          `json:"responseMimeType"`
			Schema     json.RawMessage `json:"responseSchema"`
			JSONSchema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return question{}, err
	}
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	q := question{
		Request: Request{Wire: wire.GoogleGenerate, Model: model, Stream: method == "streamGenerateContent", Messages: len(in.Contents)},
		schema:  in.Config.JSONSchema,
	}
	if len(q.schema) == 0 {
		q.schema = in.Config.Schema
	}
	if len(q.schema) == 0 && in.Config.Type == "application/json" {
		q.schema = json.RawMessage("{}")
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			q.Tools = append(q.Tools, f.Name)
		}
	}
	// Gemini CLI has its router and its checks answer by a schema, and searches
	// with a tool of the provider's own that has no declaration.
	q.Main = len(q.Tools) > 0 && len(q.schema) == 0
	var talk []said
	for _, c := range in.Contents {
		for _, p := range c.Parts {
			talk = append(talk, p.said(c.Role == "model"))
		}
	}
	q.hear(talk)
	return q, nil
}

func (p geminiPart) said(model bool) said {
	switch {
	case p.FunctionCall != nil:
		return said{model: model, text: string(p.FunctionCall.Args)}
	case p.FunctionResponse != nil:
		s := said{model: model, result: true, id: p.FunctionResponse.ID}
		if s.id == "" {
			s.id = p.FunctionResponse.Name // all there is to tell it by
		}
		_, s.failed = p.FunctionResponse.Response["error"]
		for _, member := range []string{"output", "error"} {
			var t string
			if json.Unmarshal(p.FunctionResponse.Response[member], &t) == nil {
				s.text += t
			}
		}
		if s.text == "" {
			s.text = string(encode(p.FunctionResponse.Response))
		}
		return s
	}
	return said{model: model, text: p.Text}
}

func (gemini) finish(a answer) string {
	switch a.stop {
	case stopEnd, stopTools:
		return "STOP"
	case stopLength:
		return "MAX_TOKENS"
	case stopRefusal:
		return "SAFETY"
	}
	return a.stop
}

// part is a block of an answer, with the given piece of its text. A tool call
// cannot be split.
func (gemini) part(p part, text string) map[string]any {
	switch p.kind {
	case thinkingPart:
		return map[string]any{"text": text, "thought": true}
	case toolPart:
		return map[string]any{
			"functionCall":     map[string]any{"id": id("call", p.number), "name": p.name, "args": json.RawMessage(p.text)},
			"thoughtSignature": signature,
		}
	case textPart:
	}
	return map[string]any{"text": text}
}

// chunk is an answer or a piece of one; the one with a finish reason is the last.
func (gemini) chunk(q question, a answer, parts []any, finish string) map[string]any {
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	d := map[string]any{
		"candidates": []any{candidate}, "modelVersion": q.Model, "responseId": id("resp", a.number),
	}
	if finish != "" {
		candidate["finishReason"] = finish
		d["usageMetadata"] = map[string]int{
			"promptTokenCount": inputTokens, "candidatesTokenCount": outputTokens, "totalTokenCount": inputTokens + outputTokens,
		}
	}
	return d
}

func (w gemini) document(q question, a answer) any {
	parts := []any{}
	for _, p := range a.parts {
		parts = append(parts, w.part(p, p.text))
	}
	return w.chunk(q, a, parts, w.finish(a))
}

func (w gemini) events(q question, a answer) []event {
	var list []event
	for i, p := range a.parts {
		last := i == len(a.parts)-1
		pieces := chunks(p.text)
		if p.kind == toolPart {
			pieces = []string{p.text}
		}
		for _, piece := range pieces {
			list = append(list, event{data: encode(w.chunk(q, a, []any{w.part(p, piece)}, "")), last: last})
		}
	}
	return append(list, event{data: encode(w.chunk(q, a, []any{map[string]any{"text": ""}}, w.finish(a)))})
}

func (gemini) fault(f Fault) any {
	e := map[string]any{"code": f.Status, "message": f.Message, "status": faultType(f, geminiFaults)}
	if f.RetryAfter > 0 {
		// Google's own clients look here and not at the header.
		e["details"] = []any{map[string]any{
			"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": strconv.Itoa(f.RetryAfter) + "s",
		}}
	}
	return map[string]any{"error": e}
}
