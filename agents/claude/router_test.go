package claude_test

import (
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/internal/wire"
)

func TestWorksThroughTheRouter(t *testing.T) {
	j := newJob(t, map[string]string{"old.txt": "old\n"},
		modelserver.Step{Tools: []modelserver.ToolUse{write("a.txt", "a\n")}},
		modelserver.Step{Tools: []modelserver.ToolUse{bash("rm old.txt")}},
		modelserver.Step{Text: "Done through the router."})
	j.Turn.Wire = wire.OpenAIChat
	o := j.MustRun()
	if o.End != agents.EndClean || !strings.Contains(o.Claim, "through the router") {
		t.Fatalf("outcome = %+v", o)
	}
	if !j.Exists("a.txt") || j.Exists("old.txt") {
		t.Error("the work was not done")
	}
	if len(j.Host.Asked) != 2 {
		t.Errorf("asked %d times, want twice", len(j.Host.Asked))
	}
	for _, r := range j.Server.Requests() {
		if r.Main && (r.Wire != wire.OpenAIChat || r.Key != agentstest.Placeholder || r.Model != "gpt-5.1") {
			t.Errorf("%s came over %s with key %q for model %q", r.Path, r.Wire, r.Key, r.Model)
		}
	}
}

func TestUsesTheMCPServersOfTheTurnAndNoOthers(t *testing.T) {
	j := newJob(t, map[string]string{".mcp.json": `{"mcpServers":{"evil":{"command":"touch","args":["/workspace/evil-ran"]}}}`},
		modelserver.Step{Text: "hello"})
	j.Turn.MCP = []agents.Server{{Name: "mine", Command: "sh", Args: []string{"-c", `echo "$WORD" > /workspace/mine-ran; cat >/dev/null`}, Env: map[string]string{"WORD": "started"}}}
	if o := j.MustRun(); o.End != agents.EndClean {
		t.Errorf("outcome = %+v", o)
	}
	if j.Text("mine-ran") != "started\n" || j.Exists("evil-ran") {
		t.Errorf("mine: %q, evil ran: %t", j.Text("mine-ran"), j.Exists("evil-ran"))
	}
}

func TestPlanEndsWithThePlan(t *testing.T) {
	j := newJob(t, nil,
		modelserver.Step{Tools: []modelserver.ToolUse{modelserver.Tool("ExitPlanMode", map[string]string{"plan": "1. write a.txt"})}},
		modelserver.Step{Text: "The plan: write a.txt."})
	j.Turn.ReadOnly = true
	o := j.MustRun()
	if o.End != agents.EndClean || o.Claim != "The plan: write a.txt." || len(j.Host.Asked) != 0 {
		t.Errorf("outcome = %+v after %d questions", o, len(j.Host.Asked))
	}
}

func TestSendsTheTokenOfALogin(t *testing.T) {
	j := newJob(t, nil, modelserver.Step{Text: "hello"})
	j.Turn.Settings = agents.Settings{"disable_api_key": []byte("true")}
	if o := j.MustRun(); o.End != agents.EndClean {
		t.Errorf("outcome = %+v", o)
	}
	if r := j.Server.Requests(); r[len(r)-1].Key != agentstest.Placeholder {
		t.Errorf("key %q", r[len(r)-1].Key)
	}
}
