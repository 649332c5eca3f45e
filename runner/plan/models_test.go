package plan

import (
	"errors"
	"slices"
	"testing"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox/egress"
)

func TestATaskGetsTheGrantsTheConfigurationPermits(t *testing.T) {
	t.Parallel()
	task := &document.Task{Objective: "o", Instructions: "i", Context: document.TaskContext{RepoRoot: "/r"},
		Agent: &document.AgentChoice{Name: "claude", Model: "sonnet", Grants: []egress.Grant{"web_search", "remote_mcp"}}}
	c := config.Default()
	_, err := Compile(task, c, Overrides{})
	var input *document.InputError
	if !errors.As(err, &input) || len(input.Details) != 2 || input.Details[1].Path != "/agent/grants/1" {
		t.Errorf("nothing permitted: %+v", err)
	}
	c.Providers["anthropic"] = config.Provider{BaseURL: "https://x.test", Allow: []egress.Grant{"remote_mcp", "files", "web_search"}, Models: []string{"own-*"}}
	p, err := Compile(task, c, Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Agent.Grants, task.Agent.Grants) || !slices.Equal(p.Agent.Models, []string{"sonnet", "claude-sonnet-*", "claude-haiku-*", "own-*"}) {
		t.Errorf("grants %q, models %q", p.Agent.Grants, p.Agent.Models)
	}
	task.Agent.Grants = nil
	if p, err = Compile(task, c, Overrides{}); err != nil || len(p.Agent.Grants) != 0 {
		t.Errorf("what is permitted and not asked for: %+v, %v", p, err)
	}
}
