package codex_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

// playTurn takes one turn against a script.
func playTurn(t *testing.T, h *agentstest.Recorder, turn agents.Turn, play func(cli *agentstest.ScriptedCLI) int) agents.Outcome {
	t.Helper()
	a, ok := agents.Lookup("CODEX")
	if !ok {
		t.Fatal("codex is not registered")
	}
	turn.Prompt = "go"
	o, err := a.Run(t.Context(), agentstest.PreparedBox{ScriptBox: agentstest.ScriptBox{Play: play}}, turn, h)
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

// begin plays the app server until the turn runs, and returns what it was
// asked by method.
func begin(c *agentstest.ScriptedCLI) map[string]map[string]any {
	heard := map[string]map[string]any{}
	hear := func() {
		m := c.Hear()
		method, _ := m["method"].(string)
		heard[method] = m
	}
	hear()
	c.Say(`{"id":1,"result":{"userAgent":"sandboxrun/9.9.9 (Debian)"}}`)
	hear()
	hear()
	c.Say(`{"id":2,"result":{"thread":{"id":"T"},"model":"m-1"}}`)
	hear()
	c.Say(`{"id":3,"result":{"turn":{"id":"U"}}}`)
	return heard
}

func noteFrame(method, params string) string {
	return `{"method":"` + method + `","params":` + params + `}`
}

func itemFrame(event, item string) string {
	return noteFrame("item/"+event, `{"threadId":"T","turnId":"U","item":`+item+`}`)
}

func commandFrame(event, id, command, rest string) string {
	line, err := json.Marshal("/usr/bin/bash -lc '" + command + "'")
	if err != nil {
		panic(err)
	}
	return itemFrame(event, fmt.Sprintf(`{"type":"commandExecution","id":%q,"command":%s,"cwd":"/workspace"%s}`, id, line, rest))
}

func askFrame(id, kind, params string) string {
	return `{"id":` + id + `,"method":"item/` + kind + `/requestApproval","params":` + params + `}`
}

func saysFrame(text string) string {
	return itemFrame("completed", `{"type":"agentMessage","id":"m","text":"`+text+`"}`)
}

const doneFrame = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"completed","error":null}}}`

// decided is what an answer to a request of the CLI says.
func decided(m map[string]any) string {
	b, err := json.Marshal([]any{m["id"], m["result"], m["error"]})
	if err != nil {
		return err.Error()
	}
	return string(b)
}
