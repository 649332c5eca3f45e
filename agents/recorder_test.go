package agents_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"sandboxrun/agents"
)

// recorder is a Host that remembers what happened.
type recorder struct {
	// decide answers approvals; nil allows everything.
	decide func(ctx context.Context, r agents.ApprovalRequest) agents.Decision
	// watch sees every event, when it is not nil.
	watch func(e agents.Event)

	mu     sync.Mutex
	events []agents.Event
	asked  []agents.ApprovalRequest
}

func (r *recorder) Emit(e agents.Event) {
	if r.watch != nil {
		r.watch(e)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) Approve(ctx context.Context, req agents.ApprovalRequest) agents.Decision {
	r.mu.Lock()
	r.asked = append(r.asked, req)
	r.mu.Unlock()
	if r.decide != nil {
		return r.decide(ctx, req)
	}
	return agents.Decision{Allow: true}
}

// of returns the data of the events of type T, in order.
func of[T any](r *recorder) []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []T
	for _, e := range r.events {
		if d, ok := e.Data.(T); ok {
			list = append(list, d)
		}
	}
	return list
}

// texts returns the texts of message events of one kind.
func (r *recorder) texts(kind agents.Kind) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, e := range r.events {
		if m, ok := e.Data.(agents.Message); ok && e.Kind == kind {
			list = append(list, m.Text)
		}
	}
	return list
}

// results maps the name and first argument of each tool call to its result and
// fails the test when a call has none.
func (r *recorder) results(t *testing.T) map[string]agents.ToolResult {
	t.Helper()
	byID := map[string]agents.ToolResult{}
	for _, res := range of[agents.ToolResult](r) {
		if _, twice := byID[res.ID]; twice {
			t.Errorf("call %s has two results", res.ID)
		}
		byID[res.ID] = res
	}
	byCall := map[string]agents.ToolResult{}
	for _, call := range of[agents.ToolCall](r) {
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

// raws returns the frames nobody knew.
func (r *recorder) raws() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, e := range r.events {
		if b, ok := e.Data.(json.RawMessage); ok {
			list = append(list, string(b))
		}
	}
	return list
}
