package agents_test

import (
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
)

func TestCodexSurvivesWhatAProcessCouldPrint(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	o := playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginCodex()
		cli.say("not json", "[]", "{}", "null", "\xff\xfe", strings.Repeat("[", 10_000), strings.Repeat("x", 5<<20),
			`{"method":7}`, `{"method":"item/started"}`, `{"method":"item/started","params":{"item":7}}`, `{"method":"of/tomorrow","params":{}}`,
			`{"id":99,"result":{}}`, `{"id":"2","result":{"thread":{"id":"evil"}}}`, `{"id":2,"result":{"thread":{"id":"evil"}}}`, `{"id":3,"result":{"turn":{"id":"evil"}}}`,
			codexCommand("completed", "", "ls", ""), codexItemFrame("completed", `{"type":"of tomorrow","id":"x"}`),
			codexSays("möbius"), codexDone)
		return cli.drain()
	})
	if o.End != agents.EndClean || o.SessionID != "T" || o.Claim != "möbius" || o.Unknown < 12 {
		t.Errorf("outcome = %+v", o)
	}
	if cut := of[agents.Truncated](h); len(cut) != 1 || cut[0].Bytes < 5<<20 {
		t.Errorf("truncated = %+v", cut)
	}
}

func TestCodexGivesEveryCallOneResult(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	o := playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginCodex()
		cli.say(codexCommand("started", "a", "ls", ""), codexCommand("started", "a", "rm", ""),
			codexCommand("completed", "a", "ls", `,"status":"failed","exitCode":2,"aggregatedOutput":"no"`),
			codexItemFrame("completed", `{"type":"webSearch","id":"w","query":"q"}`),
			codexItemFrame("started", `{"type":"mcpToolCall","id":"m","server":"s","tool":"t","arguments":{"x":1}}`),
			codexItemFrame("completed", `{"type":"mcpToolCall","id":"m","server":"s","tool":"t","status":"completed","result":{"content":[{"type":"text","text":"hi"}]}}`),
			codexItemFrame("started", `{"type":"fileChange","id":"never","changes":[{"path":"x"}]}`))
		for i := range 1200 {
			cli.say(codexCommand("started", fmt.Sprint("n", i), "x", ""))
		}
		cli.say(`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"failed","error":{"message":"oh"}}}}`)
		return cli.drain()
	})
	if o.Unknown < 150 {
		t.Errorf("%d unknown frames, want those beyond the bound of open calls", o.Unknown)
	}
	results := map[string]agents.ToolResult{}
	for _, r := range of[agents.ToolResult](h) {
		if _, twice := results[r.ID]; twice {
			t.Errorf("call %s has two results", r.ID)
		}
		results[r.ID] = r
	}
	for _, call := range of[agents.ToolCall](h) {
		if _, ok := results[call.ID]; !ok {
			t.Errorf("call %s has no result", call.ID)
		}
	}
	if r := results["a"]; r.Status != agents.StatusError || *r.ExitCode != 2 || r.Command != "ls" || r.Text != "no" {
		t.Errorf("a = %+v", r)
	}
	if results["w"].Status != agents.StatusOK || results["m"].Text != "hi" || results["never"].Status != agents.StatusCancelled {
		t.Errorf("results = %+v %+v %+v", results["w"], results["m"], results["never"])
	}
}

func TestCodexForgetsEditsBeyondItsBound(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	var got map[string]any
	playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginCodex()
		for i := range 6 {
			cli.say(codexItemFrame("started", fmt.Sprintf(`{"type":"fileChange","id":"e%d","changes":[{"path":"x","diff":%q}]}`, i, strings.Repeat("y", 3<<20))))
		}
		cli.say(codexAskFor("0", "fileChange", `{"threadId":"T","itemId":"e5"}`))
		got = cli.hear()
		cli.say(codexDone)
		return cli.drain()
	})
	if got["error"] == nil || len(h.asked) > 0 {
		t.Errorf("answer = %v: an edit was asked for that nobody has seen", got)
	}
}

// FuzzCodex feeds a turn whatever a process could print. It must end, and every
// call must have exactly one result.
func FuzzCodex(f *testing.F) {
	for _, lines := range [][]string{
		{codexCommand("started", "a", "x", ""), codexAskFor("0", "commandExecution", `{"itemId":"a","command":"x"}`), codexCommand("completed", "a", "x", `,"status":"declined"`), codexDone},
		{codexItemFrame("started", `{"type":"fileChange","id":"e","changes":[{"path":"x"}]}`), codexAskFor("1", "fileChange", `{"itemId":"e"}`), codexNote("item/fileChange/patchUpdated", `{"itemId":"e","changes":[]}`)},
		{codexNote("error", `{"error":{"message":"x","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":401}}},"willRetry":true}`)},
		{codexNote("turn/plan/updated", `{"plan":[{"step":"a","status":"completed"}]}`), codexNote("warning", `{"message":"w"}`), codexNote("thread/tokenUsage/updated", `{}`)},
		{`{"id":4,"method":"item/tool/requestUserInput","params":{"itemId":"q","questions":[{"id":"c","question":"?","options":[{"label":"l"}]}]}}`, codexNote("serverRequest/resolved", `{"requestId":4}`), codexDone},
		{`{"id":5,"method":"mcpServer/elicitation/request","params":{"serverName":"s","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"t"}}}`},
	} {
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		h := &recorder{}
		o := playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
			cli.beginCodex()
			cli.say(text)
			return 0
		})
		h.holds(t, o, text, "turn/completed")
	})
}
