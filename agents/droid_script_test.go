package agents_test

import (
	"encoding/json"
	"testing"

	"sandboxrun/agents"
)

// playDroid takes one turn against a script.
func playDroid(t *testing.T, h *recorder, turn agents.Turn, play func(cli *scriptCLI) int) agents.Outcome {
	t.Helper()
	a, ok := agents.Lookup("DROID")
	if !ok {
		t.Fatal("droid is not registered")
	}
	turn.Prompt, turn.Wire = "go", agents.WireAnthropicMessages
	o, err := a.Run(t.Context(), preparedBox{scriptBox{play: play}}, turn, h)
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

// beginDroid plays the CLI until it has the prompt.
func (c *scriptCLI) beginDroid() {
	c.say("9.9.9")
	c.hear()
	c.say(droidOpened)
	c.hear()
	c.say(`{"type":"response","id":"prompt","result":{}}`)
}

const droidOpened = `{"type":"response","id":"open","result":{"sessionId":"s-1","settings":{"autonomyLevel":"off"}}}`

func droidNote(notification string) string {
	return `{"type":"notification","method":"droid.session_notification","params":{"sessionId":"s-1","notification":` + notification + `}}`
}

func droidEnds(reason string) string {
	return droidNote(`{"type":"agent_turn_completed","reason":"` + reason + `","tokenUsage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheCreationTokens":4},"childTokenUsage":{"inputTokens":10}}`)
}

func droidSays(blocks string) string {
	return droidNote(`{"type":"create_message","message":{"id":"m","role":"assistant","content":[` + blocks + `]}}`)
}

func droidUses(id, tool, input string) string {
	return droidSays(`{"type":"tool_use","id":"` + id + `","name":"` + tool + `","input":` + input + `}`)
}

func droidReturns(id, text string, failed bool) string {
	b, err := json.Marshal(map[string]any{"type": "tool_result", "toolUseId": id, "content": text, "isError": failed})
	if err != nil {
		return err.Error()
	}
	return droidNote(string(b))
}

const droidOptions = `"options":[{"value":"proceed_once"},{"value":"proceed_always"},{"value":"cancel"}]`

func droidAsks(id string, uses ...string) string {
	list := ""
	for i, u := range uses {
		if i > 0 {
			list += ","
		}
		list += `{"toolUse":` + u + `,"confirmationType":"exec","details":{"type":"exec"}}`
	}
	return `{"type":"request","id":` + id + `,"method":"droid.request_permission","params":{"toolUses":[` + list + `],` + droidOptions + `}}`
}

func droidUse(id, tool, input string) string {
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
