package claude_test

import (
	"context"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/modelserver"
)

// begin reads initialize and the prompt, and prints init.
func begin(c *agentstest.ScriptedCLI) {
	c.Hear()
	c.Hear()
	c.Say(frameInit)
}

const frameInit = `{"type":"system","subtype":"init","session_id":"s-1","model":"m-1","claude_code_version":"9.9.9"}`

func frameResult(text string) string {
	return `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"result":"` + text + `","usage":{"input_tokens":1,"output_tokens":2}}`
}

func frameTool(id, name, input string) string {
	return `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + `}]}}`
}

func frameToolResult(id, text string) string {
	return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + text + `"}]}}`
}

func frameAsk(id, toolID, tool, input string) string {
	return `{"type":"control_request","request_id":` + id + `,"request":{"subtype":"can_use_tool","tool_name":"` + tool + `","tool_use_id":"` + toolID + `","input":` + input + `}}`
}

// playTurn takes one turn against a script.
func playTurn(ctx context.Context, t *testing.T, h *agentstest.Recorder, play func(cli *agentstest.ScriptedCLI) int) (agents.Outcome, error) {
	t.Helper()
	claude, ok := agents.Lookup("CLAUDE_CODE")
	if !ok {
		t.Fatal("claude is not registered")
	}
	return claude.Run(ctx, agentstest.ScriptBox{Play: play}, agents.Turn{Prompt: "go", SessionID: "s-0"}, h)
}

// mustPlay is playClaude without an error.
func mustPlay(t *testing.T, h *agentstest.Recorder, play func(cli *agentstest.ScriptedCLI) int) agents.Outcome {
	t.Helper()
	o, err := playTurn(t.Context(), t, h, play)
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

// newJob prepares a turn of Claude Code over a workspace with files.
func newJob(t *testing.T, files map[string]string, steps ...modelserver.Step) *agentstest.Job {
	t.Helper()
	return agentstest.NewJob(t, "claude", files, steps...)
}
