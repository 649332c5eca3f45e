package acp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

// asText is a value as JSON.
func asText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestKeepsWhatNobodyKnowsAndGoesOn(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"no json":               `hello`,
		"half a message":        `{"jsonrpc":"2.0","method":"session/upd`,
		"a list":                `[]`,
		"neither id nor method": `{"jsonrpc":"2.0"}`,
		"null id":               `{"jsonrpc":"2.0","id":null}`,
		"answer to nothing":     `{"jsonrpc":"2.0","id":99,"result":{}}`,
		"answer by text id":     `{"jsonrpc":"2.0","id":"3","result":{}}`,
		"answer by float":       `{"jsonrpc":"2.0","id":3.0,"result":{"stopReason":"end_turn"}}`,
		"answer without either": `{"jsonrpc":"2.0","id":3}`,
		"id is an object":       `{"jsonrpc":"2.0","id":{"a":1},"method":"session/request_permission"}`,
		"id is a bool":          `{"jsonrpc":"2.0","id":true,"method":"fs/read_text_file"}`,
		"long id":               `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1000) + `","method":"x"}`,
		"method is a number":    `{"jsonrpc":"2.0","method":5}`,
		"version is a number":   `{"jsonrpc":2,"method":"x/y"}`,
		"cancel of a request":   `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}`,
		"unknown notification":  `{"jsonrpc":"2.0","method":"x/y","params":{}}`,
		"params are text":       `{"jsonrpc":"2.0","method":"session/update","params":"text"}`,
		"no params":             `{"jsonrpc":"2.0","method":"session/update"}`,
		"other session":         strings.Replace(textFrame("x"), "s-1", "s-2", 1),
		"no session":            strings.Replace(textFrame("x"), `"s-1"`, "null", 1),
		"unknown update":        noteFrame(`{"sessionUpdate":"dance"}`),
		"update is a number":    noteFrame(`7`),
		"chunk without content": noteFrame(`{"sessionUpdate":"agent_message_chunk"}`),
		"content is a list":     noteFrame(`{"sessionUpdate":"agent_message_chunk","content":[]}`),
		"call without id":       noteFrame(`{"sessionUpdate":"tool_call","kind":"edit"}`),
		"call with a long id":   noteFrame(`{"sessionUpdate":"tool_call","toolCallId":"` + strings.Repeat("x", 1000) + `"}`),
		"deep":                  noteFrame(strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{}
			o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				prompt := begin(cli)
				cli.Say(line, textFrame("still here"))
				reply(cli, prompt, endResult)
				return cli.Drain()
			})
			if o.End != agents.EndClean || o.Claim != "still here" || o.Unknown != 1 {
				t.Errorf("outcome = %+v, want clean with one unknown frame", o)
			}
			if raws := agentstest.Of[json.RawMessage](h); len(raws) != 1 || !json.Valid(raws[0]) {
				t.Errorf("raw = %s", raws)
			}
		})
	}
}

func TestDropsALineThatIsTooLongAndReadsTheNext(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		long := func(n int) string { // in a way that would grow if it were escaped
			return strings.Replace(textFrame("%"), "%", strings.Repeat("<", n), 1)
		}
		cli.Say(long(5<<20), long(3<<20), textFrame("end"))
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	if o.End != agents.EndClean || !strings.HasSuffix(o.Claim, "end") && !strings.HasSuffix(o.Claim, "…") {
		t.Errorf("outcome = %s %s %.100s", o.End, o.Code, o.Message)
	}
	if cut := agentstest.Of[agents.Truncated](h); len(cut) != 1 || cut[0].Bytes < 5<<20 {
		t.Errorf("truncated = %+v", cut)
	}
	total := 0
	for _, m := range h.Texts(agents.KindAssistantMessage) {
		total += len(m)
	}
	if total != 3<<20+len("end") {
		t.Errorf("%d bytes of messages", total)
	}
}

func TestNothingAfterTheEndChangesIt(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		cli.Say(textFrame("done"))
		reply(cli, prompt, endResult)
		cli.Drain()
		reply(cli, prompt, `{"stopReason":"refusal"}`)
		refuse(cli, prompt, `{"code":401,"message":"no"}`)
		cli.Say(askFrame("0", editCall, optionList), noteFrame(`{"sessionUpdate":"tool_call","toolCallId":"late","kind":"edit","status":"in_progress"}`))
		return 7
	})
	if o.End != agents.EndClean || o.Claim != "done" || len(h.Asked) != 0 || o.Unknown != 3 {
		t.Errorf("outcome = %+v, asked %d", o, len(h.Asked))
	}
	if calls, results := agentstest.Of[agents.ToolCall](h), agentstest.Of[agents.ToolResult](h); len(calls) != len(results) {
		t.Errorf("%d calls have %d results", len(calls), len(results))
	}
}

func TestGivesEveryCallOneResult(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		call := func(id, rest string) string {
			return noteFrame(`{"sessionUpdate":"tool_call","toolCallId":"` + id + `"` + rest + `}`)
		}
		cli.Say(
			call("a", `,"kind":"execute","status":"pending","rawInput":{}`), // the model is still writing it
			noteFrame(`{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"in_progress","rawInput":{"command":"exit 3"}}`),
			noteFrame(`{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed","content":[{"type":"content","content":{"type":"text","text":"out"}}],"rawOutput":{"exitCode":3,"output":"out"}}`),
			doneFrame("a", "completed"),                        // a second result
			call("a", `,"kind":"edit","status":"in_progress"`), // and the id again
			doneFrame("never", "completed"),                    // one that was never announced
			call("b", `,"kind":"read","status":"in_progress"`), // one that never ends
			call("c", `,"kind":"edit","status":"pending"`),     // one that never begins
			textFrame("done"))
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.Unknown != 2 {
		t.Errorf("outcome = %+v", o)
	}
	got := map[string]agents.ToolResult{}
	for _, r := range agentstest.Of[agents.ToolResult](h) {
		if _, twice := got[r.ID]; twice {
			t.Errorf("two results for %s", r.ID)
		}
		got[r.ID] = r
	}
	if r := got["a"]; r.Status != agents.StatusError || r.ExitCode == nil || *r.ExitCode != 3 || r.Command != "exit 3" || r.Text != "out" {
		t.Errorf("a = %+v", r)
	}
	if got["b"].Status != agents.StatusCancelled || got["never"].Status != agents.StatusOK || len(got) != 3 {
		t.Errorf("results = %+v", got)
	}
	if calls := agentstest.Of[agents.ToolCall](h); len(calls) != 3 || string(calls[0].Input) != `{"command":"exit 3"}` {
		t.Errorf("calls = %+v", calls)
	}
}

func TestADeniedCallThatRanAllTheSameIsTold(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: denyAll}
	_, o := permit(t, h, askFrame("0", `{"toolCallId":"other","kind":"edit"}`, optionList))
	if o.Unknown != 0 {
		t.Errorf("unknown = %d", o.Unknown)
	}
	h = &agentstest.Recorder{Decide: denyAll}
	o = playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		cli.Say(askFrame("0", editCall, optionList))
		cli.Hear()
		cli.Say(doneFrame("c1", "completed"), textFrame("I did it."))
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	if r := agentstest.Of[agents.ToolResult](h); len(r) != 1 || r[0].Status != agents.StatusDenied || o.Unknown != 1 {
		t.Errorf("results = %+v, unknown %d", r, o.Unknown)
	}
}

func TestForgetsNoCallHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		for i := range 1500 { // more than may be open at once
			cli.Say(noteFrame(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"c%d","kind":"read","status":"in_progress"}`, i)))
		}
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	if calls, results := len(agentstest.Of[agents.ToolCall](h)), len(agentstest.Of[agents.ToolResult](h)); calls != results || calls != 1024 || o.Unknown != 1500-1024 {
		t.Errorf("%d calls, %d results, %d unknown", calls, results, o.Unknown)
	}
}
