package agents_test

import (
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest/modelserver"
)

func TestClaudeWorksThroughTheRouter(t *testing.T) {
	j := newJob(t, map[string]string{"old.txt": "old\n"},
		modelserver.Step{Tools: []modelserver.ToolUse{write("a.txt", "a\n")}},
		modelserver.Step{Tools: []modelserver.ToolUse{bash("rm old.txt")}},
		modelserver.Step{Text: "Done through the router."})
	j.turn.Wire = agents.WireOpenAIChat
	o := j.mustRun()
	if o.End != agents.EndClean || !strings.Contains(o.Claim, "through the router") {
		t.Fatalf("outcome = %+v", o)
	}
	if !j.exists("a.txt") || j.exists("old.txt") {
		t.Error("the work was not done")
	}
	if len(j.host.asked) != 2 {
		t.Errorf("asked %d times, want twice", len(j.host.asked))
	}
	for _, r := range j.server.Requests() {
		if r.Main && (r.Wire != modelserver.Chat || r.Key != placeholder || r.Model != "gpt-5.1") {
			t.Errorf("%s came over %s with key %q for model %q", r.Path, r.Wire, r.Key, r.Model)
		}
	}
}

func TestClaudeUsesTheMCPServersOfTheTurnAndNoOthers(t *testing.T) {
	j := newJob(t, map[string]string{".mcp.json": `{"mcpServers":{"evil":{"command":"touch","args":["/workspace/evil-ran"]}}}`},
		modelserver.Step{Text: "hello"})
	j.turn.MCP = []agents.Server{{Name: "mine", Command: "sh", Args: []string{"-c", `echo "$WORD" > /workspace/mine-ran; cat >/dev/null`}, Env: map[string]string{"WORD": "started"}}}
	if o := j.mustRun(); o.End != agents.EndClean {
		t.Errorf("outcome = %+v", o)
	}
	if j.text("mine-ran") != "started\n" || j.exists("evil-ran") {
		t.Errorf("mine: %q, evil ran: %t", j.text("mine-ran"), j.exists("evil-ran"))
	}
}

func TestClaudePlanEndsWithThePlan(t *testing.T) {
	j := newJob(t, nil,
		modelserver.Step{Tools: []modelserver.ToolUse{modelserver.Tool("ExitPlanMode", map[string]string{"plan": "1. write a.txt"})}},
		modelserver.Step{Text: "The plan: write a.txt."})
	j.turn.ReadOnly = true
	o := j.mustRun()
	if o.End != agents.EndClean || o.Claim != "The plan: write a.txt." || len(j.host.asked) != 0 {
		t.Errorf("outcome = %+v after %d questions", o, len(j.host.asked))
	}
}

func TestClaudeSendsTheTokenOfALogin(t *testing.T) {
	j := newJob(t, nil, modelserver.Step{Text: "hello"})
	j.turn.Settings = agents.Settings{"disable_api_key": []byte("true")}
	if o := j.mustRun(); o.End != agents.EndClean {
		t.Errorf("outcome = %+v", o)
	}
	if r := j.server.Requests(); r[len(r)-1].Key != placeholder {
		t.Errorf("key %q", r[len(r)-1].Key)
	}
}
