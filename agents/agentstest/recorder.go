package agentstest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"sandboxrun/agents"
)

// Recorder is a Host that remembers what happened.
type Recorder struct {
	// Decide answers approvals; nil allows everything.
	Decide func(ctx context.Context, r agents.ApprovalRequest) agents.Decision
	// Watch sees every event, when it is not nil.
	Watch func(e agents.Event)

	mu     sync.Mutex
	Events []agents.Event
	Asked  []agents.ApprovalRequest
}

// Emit implements agents.Host.
func (r *Recorder) Emit(e agents.Event) {
	if r.Watch != nil {
		r.Watch(e)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Events = append(r.Events, e)
}

// Approve implements agents.Host.
func (r *Recorder) Approve(ctx context.Context, req agents.ApprovalRequest) agents.Decision {
	r.mu.Lock()
	r.Asked = append(r.Asked, req)
	r.mu.Unlock()
	if r.Decide != nil {
		return r.Decide(ctx, req)
	}
	return agents.Decision{Allow: true}
}

// Of returns the data of the events of type T, in order.
func Of[T any](r *Recorder) []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []T
	for _, e := range r.Events {
		if d, ok := e.Data.(T); ok {
			list = append(list, d)
		}
	}
	return list
}

// Texts returns the texts of message events of one kind.
func (r *Recorder) Texts(kind agents.Kind) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, e := range r.Events {
		if m, ok := e.Data.(agents.Message); ok && e.Kind == kind {
			list = append(list, m.Text)
		}
	}
	return list
}

// Results maps the name and first argument of each tool call to its result and
// fails the test when a call has none.
func (r *Recorder) Results(t *testing.T) map[string]agents.ToolResult {
	t.Helper()
	byID := map[string]agents.ToolResult{}
	for _, res := range Of[agents.ToolResult](r) {
		if _, twice := byID[res.ID]; twice {
			t.Errorf("call %s has two results", res.ID)
		}
		byID[res.ID] = res
	}
	byCall := map[string]agents.ToolResult{}
	for _, call := range Of[agents.ToolCall](r) {
		res, ok := byID[call.ID]
		if !ok {
			t.Errorf("call %s (%s) has no result", call.ID, call.Tool)
		}
		var in struct {
			Command string `json:"command"`
			Path    string `json:"file_path"`
		}
		if err := json.Unmarshal(call.Input, &in); err != nil {
			t.Errorf("input of %s: %v", call.ID, err)
		}
		byCall[call.Tool+" "+in.Command+in.Path] = res
	}
	return byCall
}

// Raws returns the frames nobody knew.
func (r *Recorder) Raws() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, e := range r.Events {
		if b, ok := e.Data.(json.RawMessage); ok {
			list = append(list, string(b))
		}
	}
	return list
}
