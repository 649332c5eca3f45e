package modelserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxScenarioBytes bounds a scenario document.
const maxScenarioBytes = 4 << 20

// Scenario is a script: the server answers the first request for the model with
// the first step, and so on. A repeated request is a request of its own: a step
// that fails is followed by what the client's next attempt gets.
type Scenario struct {
	Name  string `json:"name"`
	Steps []Step `json:"steps"`
}

// Step is the answer to one request, or to Times of them.
type Step struct {
	Thinking string    `json:"thinking,omitempty"`
	Text     string    `json:"text,omitempty"`
	Tools    []ToolUse `json:"tools,omitempty"`
	// StopReason overrides the natural one: tool_use with tools, else end_turn.
	// These, max_tokens and refusal are said in each wire's own words, anything
	// else as it stands.
	StopReason string `json:"stop_reason,omitempty"`
	// Expect is a text that must occur in the conversation the request holds, the
	// system prompt aside. Where it does not, the answer is a fault of status 400,
	// the step stays the next one, and Server.Failures tells.
	Expect string `json:"expect,omitempty"`
	// Fault answers with an error status instead of a message.
	Fault *Fault `json:"fault,omitempty"`
	// Cut ends the connection in the middle of the last block of a stream, and
	// in the middle of the body of a non-streaming answer.
	Cut bool `json:"cut,omitempty"`
	// Silent accepts the request and says nothing until the client or the
	// server leaves.
	Silent bool `json:"silent,omitempty"`
	// DelayMS is how long the answer waits, in milliseconds.
	DelayMS int `json:"delay_ms,omitempty"`
	// Times is how many requests the step answers; 0 means one, negative
	// means every one from here on.
	Times int `json:"times,omitempty"`
}

// ToolUse is a tool call of the model, by the CLI's own tool name. Where the CLI
// offers the tool as one of free text (a custom tool of the Responses API), the
// input is a JSON string or an object with the one member input.
type ToolUse struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Fault is an error answer.
type Fault struct {
	Status int `json:"status"`
	// Type is what the wire calls the error, such as rate_limit_error,
	// insufficient_quota or RESOURCE_EXHAUSTED; empty takes its name for the status.
	Type    string `json:"type,omitempty"`
	Message string `json:"message"`
	// RetryAfter is the header of that name in seconds; 0 leaves it out.
	RetryAfter int `json:"retry_after,omitempty"`
}

// Tool makes a ToolUse from a value that marshals to its input. It panics on
// one that does not, as scenarios are written down, not computed.
func Tool(name string, input any) ToolUse {
	b, err := json.Marshal(input)
	if err != nil {
		panic(fmt.Sprintf("modelserver: input of tool %s: %v", name, err))
	}
	return ToolUse{Name: name, Input: b}
}

// Load reads one scenario document of JSON; unknown fields are errors.
func Load(r io.Reader) (Scenario, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxScenarioBytes+1))
	if err != nil {
		return Scenario{}, fmt.Errorf("read scenario: %w", err)
	}
	if len(b) > maxScenarioBytes {
		return Scenario{}, fmt.Errorf("read scenario: longer than %d bytes", maxScenarioBytes)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var s Scenario
	if err := dec.Decode(&s); err != nil {
		return Scenario{}, fmt.Errorf("decode scenario: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Scenario{}, errors.New("decode scenario: more than one document")
	}
	return s, s.validate()
}

func (s Scenario) validate() error {
	for i, step := range s.Steps {
		if step.Fault != nil && (step.Fault.Status < 400 || step.Fault.Status > 599) {
			return fmt.Errorf("scenario %s: step %d: fault status %d is not an error status", s.Name, i, step.Fault.Status)
		}
		for _, t := range step.Tools {
			if t.Name == "" || !json.Valid(t.Input) {
				return fmt.Errorf("scenario %s: step %d: a tool needs a name and an input of JSON", s.Name, i)
			}
		}
	}
	return nil
}
