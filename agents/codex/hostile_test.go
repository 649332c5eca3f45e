package codex_test

import (
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/internal/testenv"
)

func TestSurvivesWhatAProcessCouldPrint(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say("not json", "[]", "{}", "null", "\xff\xfe", strings.Repeat("[", 10_000), strings.Repeat("x", 5<<20),
			`{"method":7}`, `{"method":"item/started"}`, `{"method":"item/started","params":{"item":7}}`, `{"method":"of/tomorrow","params":{}}`,
			`{"id":99,"result":{}}`, `{"id":"2","result":{"thread":{"id":"evil"}}}`, `{"id":2,"result":{"thread":{"id":"evil"}}}`, `{"id":3,"result":{"turn":{"id":"evil"}}}`,
			commandFrame("completed", "", "ls", ""), itemFrame("completed", `{"type":"of tomorrow","id":"x"}`),
			saysFrame("möbius"), doneFrame)
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.SessionID != "T" || o.Claim != "möbius" || o.Unknown < 12 {
		t.Errorf("outcome = %+v", o)
	}
	if cut := agentstest.Of[agents.Truncated](h); len(cut) != 1 || cut[0].Bytes < 5<<20 {
		t.Errorf("truncated = %+v", cut)
	}
}

func TestGivesEveryCallOneResult(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(commandFrame("started", "a", "ls", ""), commandFrame("started", "a", "rm", ""),
			commandFrame("completed", "a", "ls", `,"status":"failed","exitCode":2,"aggregatedOutput":"no"`),
			itemFrame("completed", `{"type":"webSearch","id":"w","query":"q"}`),
			itemFrame("started", `{"type":"mcpToolCall","id":"m","server":"s","tool":"t","arguments":{"x":1}}`),
			itemFrame("completed", `{"type":"mcpToolCall","id":"m","server":"s","tool":"t","status":"completed","result":{"content":[{"type":"text","text":"hi"}]}}`),
			itemFrame("started", `{"type":"fileChange","id":"never","changes":[{"path":"x"}]}`))
		for i := range 1200 {
			cli.Say(commandFrame("started", fmt.Sprint("n", i), "x", ""))
		}
		cli.Say(`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"failed","error":{"message":"oh"}}}}`)
		return cli.Drain()
	})
	if o.Unknown < 150 {
		t.Errorf("%d unknown frames, want those beyond the bound of open calls", o.Unknown)
	}
	results := map[string]agents.ToolResult{}
	for _, r := range agentstest.Of[agents.ToolResult](h) {
		if _, twice := results[r.ID]; twice {
			t.Errorf("call %s has two results", r.ID)
		}
		results[r.ID] = r
	}
	for _, call := range agentstest.Of[agents.ToolCall](h) {
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

func TestForgetsEditsBeyondItsBound(t *testing.T) {
	t.Parallel()
	testenv.NeedsTime(t, "reads 18 MB of edits")
	h := &agentstest.Recorder{}
	var got map[string]any
	playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		for i := range 6 {
			cli.Say(itemFrame("started", fmt.Sprintf(`{"type":"fileChange","id":"e%d","changes":[{"path":"x","diff":%q}]}`, i, strings.Repeat("y", 3<<20))))
		}
		cli.Say(askFrame("0", "fileChange", `{"threadId":"T","itemId":"e5"}`))
		got = cli.Hear()
		cli.Say(doneFrame)
		return cli.Drain()
	})
	if got["error"] == nil || len(h.Asked) > 0 {
		t.Errorf("answer = %v: an edit was asked for that nobody has seen", got)
	}
}

// FuzzCodex feeds a turn whatever a process could print. It must end, and every
// call must have exactly one result.
func FuzzCodex(f *testing.F) {
	for _, lines := range [][]string{
		{commandFrame("started", "a", "x", ""), askFrame("0", "commandExecution", `{"itemId":"a","command":"x"}`), commandFrame("completed", "a", "x", `,"status":"declined"`), doneFrame},
		{itemFrame("started", `{"type":"fileChange","id":"e","changes":[{"path":"x"}]}`), askFrame("1", "fileChange", `{"itemId":"e"}`), noteFrame("item/fileChange/patchUpdated", `{"itemId":"e","changes":[]}`)},
		{noteFrame("error", `{"error":{"message":"x","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":401}}},"willRetry":true}`)},
		{noteFrame("turn/plan/updated", `{"plan":[{"step":"a","status":"completed"}]}`), noteFrame("warning", `{"message":"w"}`), noteFrame("thread/tokenUsage/updated", `{}`)},
		{`{"id":4,"method":"item/tool/requestUserInput","params":{"itemId":"q","questions":[{"id":"c","question":"?","options":[{"label":"l"}]}]}}`, noteFrame("serverRequest/resolved", `{"requestId":4}`), doneFrame},
		{`{"id":5,"method":"mcpServer/elicitation/request","params":{"serverName":"s","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"t"}}}`},
	} {
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		h := &agentstest.Recorder{}
		o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
			begin(cli)
			cli.Say(text)
			return 0
		})
		h.Check(t, o, text, "turn/completed")
	})
}
