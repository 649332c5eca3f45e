package agents_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"sandboxrun/agents"
)

// playCodex takes one turn against a script.
func playCodex(t *testing.T, h *recorder, turn agents.Turn, play func(cli *scriptCLI) int) agents.Outcome {
	t.Helper()
	a, ok := agents.Lookup("CODEX")
	if !ok {
		t.Fatal("codex is not registered")
	}
	turn.Prompt = "go"
	o, err := a.Run(t.Context(), preparedBox{scriptBox{play: play}}, turn, h)
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

// beginCodex plays the app server until the turn runs, and returns what it was
// asked by method.
func (c *scriptCLI) beginCodex() map[string]map[string]any {
	heard := map[string]map[string]any{}
	hear := func() {
		m := c.hear()
		method, _ := m["method"].(string)
		heard[method] = m
	}
	hear()
	c.say(`{"id":1,"result":{"userAgent":"sandboxrun/9.9.9 (Debian)"}}`)
	hear()
	hear()
	c.say(`{"id":2,"result":{"thread":{"id":"T"},"model":"m-1"}}`)
	hear()
	c.say(`{"id":3,"result":{"turn":{"id":"U"}}}`)
	return heard
}

func codexNote(method, params string) string {
	return `{"method":"` + method + `","params":` + params + `}`
}

func codexItemFrame(event, item string) string {
	return codexNote("item/"+event, `{"threadId":"T","turnId":"U","item":`+item+`}`)
}

func codexCommand(event, id, command, rest string) string {
	line, err := json.Marshal("/usr/bin/bash -lc '" + command + "'")
	if err != nil {
		panic(err)
	}
	return codexItemFrame(event, fmt.Sprintf(`{"type":"commandExecution","id":%q,"command":%s,"cwd":"/workspace"%s}`, id, line, rest))
}

func codexAskFor(id, kind, params string) string {
	return `{"id":` + id + `,"method":"item/` + kind + `/requestApproval","params":` + params + `}`
}

func codexSays(text string) string {
	return codexItemFrame("completed", `{"type":"agentMessage","id":"m","text":"`+text+`"}`)
}

const codexDone = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"completed","error":null}}}`

// decided is what an answer to a request of the CLI says.
func decided(m map[string]any) string {
	b, err := json.Marshal([]any{m["id"], m["result"], m["error"]})
	if err != nil {
		return err.Error()
	}
	return string(b)
}
