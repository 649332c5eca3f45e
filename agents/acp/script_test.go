package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

// playTurn takes one turn of an agent against a script.
func playTurn(t *testing.T, h *agentstest.Recorder, turn agents.Turn, play func(cli *agentstest.ScriptedCLI) int) agents.Outcome {
	t.Helper()
	a, ok := agents.Lookup(scriptAgent)
	if !ok {
		t.Fatalf("there is no agent %s", scriptAgent)
	}
	if turn.Prompt == "" {
		turn.Prompt = "go"
	}
	o, err := a.Run(t.Context(), agentstest.PreparedBox{ScriptBox: agentstest.ScriptBox{Play: play}}, turn, h)
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

// scriptAgent is an agent without quirks.
const scriptAgent = "acp:script"

// begin plays the CLI until it has the prompt, and returns that.
func begin(c *agentstest.ScriptedCLI) map[string]any {
	reply(c, c.Hear(), `{"protocolVersion":1,"agentInfo":{"name":"x","version":"9.9.9"},"agentCapabilities":{"loadSession":true}}`)
	reply(c, c.Hear(), `{"sessionId":"s-1","modes":{"availableModes":[{"id":"default"},{"id":"plan"}],"currentModeId":"default"}}`)
	return c.Hear()
}

// reply answers a request.
func reply(c *agentstest.ScriptedCLI, request map[string]any, result string) {
	c.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":%s}`, request["id"], result))
}

// refuse answers a request with an error.
func refuse(c *agentstest.ScriptedCLI, request map[string]any, fault string) {
	c.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"error":%s}`, request["id"], fault))
}

const (
	endResult  = `{"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2}}`
	optionList = `[{"optionId":"x","name":"No","kind":"allow_once"},{"optionId":"y","name":"Yes","kind":"reject_once"},{"optionId":"z","name":"Always","kind":"allow_always"}]`
	editCall   = `{"toolCallId":"c1","title":"Edit a","kind":"edit","status":"pending","rawInput":{"path":"a"}}`
)

func noteFrame(update string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":` + update + `}}`
}

func textFrame(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always marshal
	}
	return noteFrame(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(b) + `}}`)
}

func askFrame(id, call, options string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":` + call + `,"options":` + options + `}}`
}

func doneFrame(call, status string) string {
	return noteFrame(`{"sessionUpdate":"tool_call_update","toolCallId":"` + call + `","status":"` + status + `"}`)
}

// chosenOption is the outcome in the answer to a permission request, or its option.
func chosenOption(answer map[string]any) string {
	result, _ := answer["result"].(map[string]any)
	outcome, _ := result["outcome"].(map[string]any)
	if id, ok := outcome["optionId"].(string); ok {
		return id
	}
	said, _ := outcome["outcome"].(string)
	return said
}

func denyAll(context.Context, agents.ApprovalRequest) agents.Decision {
	return agents.Decision{Reason: "no"}
}
