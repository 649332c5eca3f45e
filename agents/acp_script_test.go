package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"sandboxrun/agents"
)

// playACP takes one turn of an agent against a script.
func playACP(t *testing.T, h *recorder, turn agents.Turn, play func(cli *scriptCLI) int) agents.Outcome {
	t.Helper()
	a, ok := agents.Lookup(anyACP)
	if !ok {
		t.Fatalf("there is no agent %s", anyACP)
	}
	if turn.Prompt == "" {
		turn.Prompt = "go"
	}
	o, err := a.Run(t.Context(), preparedBox{scriptBox{play: play}}, turn, h)
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

// anyACP is an agent without quirks.
const anyACP = "acp:script"

// openACP plays the CLI until it has the prompt, and returns that.
func (c *scriptCLI) openACP() map[string]any {
	c.reply(c.hear(), `{"protocolVersion":1,"agentInfo":{"name":"x","version":"9.9.9"},"agentCapabilities":{"loadSession":true}}`)
	c.reply(c.hear(), `{"sessionId":"s-1","modes":{"availableModes":[{"id":"default"},{"id":"plan"}],"currentModeId":"default"}}`)
	return c.hear()
}

// reply answers a request.
func (c *scriptCLI) reply(request map[string]any, result string) {
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":%s}`, request["id"], result))
}

// refuse answers a request with an error.
func (c *scriptCLI) refuse(request map[string]any, fault string) {
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"error":%s}`, request["id"], fault))
}

const (
	acpEnd      = `{"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2}}`
	acpOptions  = `[{"optionId":"x","name":"No","kind":"allow_once"},{"optionId":"y","name":"Yes","kind":"reject_once"},{"optionId":"z","name":"Always","kind":"allow_always"}]`
	acpEditCall = `{"toolCallId":"c1","title":"Edit a","kind":"edit","status":"pending","rawInput":{"path":"a"}}`
)

func acpNote(update string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":` + update + `}}`
}

func acpText(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always marshal
	}
	return acpNote(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(b) + `}}`)
}

func acpAsk(id, call, options string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":` + call + `,"options":` + options + `}}`
}

func acpDone(call, status string) string {
	return acpNote(`{"sessionUpdate":"tool_call_update","toolCallId":"` + call + `","status":"` + status + `"}`)
}

// acpChosen is the outcome in the answer to a permission request, or its option.
func acpChosen(answer map[string]any) string {
	result, _ := answer["result"].(map[string]any)
	outcome, _ := result["outcome"].(map[string]any)
	if id, ok := outcome["optionId"].(string); ok {
		return id
	}
	said, _ := outcome["outcome"].(string)
	return said
}

func acpDeny(context.Context, agents.ApprovalRequest) agents.Decision {
	return agents.Decision{Reason: "no"}
}
