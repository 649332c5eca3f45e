package droid_test

import (
	"encoding/json"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/internal/wire"
)

// playTurn takes one turn against a script.
func playTurn(t *testing.T, h *agentstest.Recorder, turn agents.Turn, play func(cli *agentstest.ScriptedCLI) int) agents.Outcome {
	t.Helper()
	a, ok := agents.Lookup("DROID")
	if !ok {
		t.Fatal("droid is not registered")
	}
	turn.Prompt, turn.Wire = "go", wire.AnthropicMessages
	o, err := a.Run(t.Context(), agentstest.PreparedBox{ScriptBox: agentstest.ScriptBox{Play: play}}, turn, h)
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

// begin plays the CLI until it has the prompt.
func begin(c *agentstest.ScriptedCLI) {
	c.Say("9.9.9")
	c.Hear()
	c.Say(openedFrame)
	c.Hear()
	c.Say(`{"type":"response","id":"prompt","result":{}}`)
}

const openedFrame = `{"type":"response","id":"open","result":{"sessionId":"s-1","settings":{"autonomyLevel":"off"}}}`

func noteFrame(notification string) string {
	return `{"type":"notification","method":"droid.session_notification","params":{"sessionId":"s-1","notification":` + notification + `}}`
}

func endFrame(reason string) string {
	return noteFrame(`{"type":"agent_turn_completed","reason":"` + reason + `","tokenUsage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheCreationTokens":4},"childTokenUsage":{"inputTokens":10}}`)
}

func saysFrame(blocks string) string {
	return noteFrame(`{"type":"create_message","message":{"id":"m","role":"assistant","content":[` + blocks + `]}}`)
}

func usesFrame(id, tool, input string) string {
	return saysFrame(`{"type":"tool_use","id":"` + id + `","name":"` + tool + `","input":` + input + `}`)
}

func returnsFrame(id, text string, failed bool) string {
	b, err := json.Marshal(map[string]any{"type": "tool_result", "toolUseId": id, "content": text, "isError": failed})
	if err != nil {
		return err.Error()
	}
	return noteFrame(string(b))
}

const optionList = `"options":[{"value":"proceed_once"},{"value":"proceed_always"},{"value":"cancel"}]`

func asksFrame(id string, uses ...string) string {
	list := ""
	for i, u := range uses {
		if i > 0 {
			list += ","
		}
		list += `{"toolUse":` + u + `,"confirmationType":"exec","details":{"type":"exec"}}`
	}
	return `{"type":"request","id":` + id + `,"method":"droid.request_permission","params":{"toolUses":[` + list + `],` + optionList + `}}`
}

func useBlock(id, tool, input string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"` + tool + `","input":` + input + `}`
}

// chosen is what an answer to a request of the CLI says.
func chosen(m map[string]any) string {
	b, err := json.Marshal([]any{m["id"], m["result"], m["error"]})
	if err != nil {
		return err.Error()
	}
	return string(b)
}
