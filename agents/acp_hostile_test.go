package agents_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
)

// asText is a value as JSON.
func asText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestACPKeepsWhatNobodyKnowsAndGoesOn(t *testing.T) {
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
		"other session":         strings.Replace(acpText("x"), "s-1", "s-2", 1),
		"no session":            strings.Replace(acpText("x"), `"s-1"`, "null", 1),
		"unknown update":        acpNote(`{"sessionUpdate":"dance"}`),
		"update is a number":    acpNote(`7`),
		"chunk without content": acpNote(`{"sessionUpdate":"agent_message_chunk"}`),
		"content is a list":     acpNote(`{"sessionUpdate":"agent_message_chunk","content":[]}`),
		"call without id":       acpNote(`{"sessionUpdate":"tool_call","kind":"edit"}`),
		"call with a long id":   acpNote(`{"sessionUpdate":"tool_call","toolCallId":"` + strings.Repeat("x", 1000) + `"}`),
		"deep":                  acpNote(strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &recorder{}
			o := playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
				prompt := cli.openACP()
				cli.say(line, acpText("still here"))
				cli.reply(prompt, acpEnd)
				return cli.drain()
			})
			if o.End != agents.EndClean || o.Claim != "still here" || o.Unknown != 1 {
				t.Errorf("outcome = %+v, want clean with one unknown frame", o)
			}
			if raws := of[json.RawMessage](h); len(raws) != 1 || !json.Valid(raws[0]) {
				t.Errorf("raw = %s", raws)
			}
		})
	}
}

func TestACPDropsALineThatIsTooLongAndReadsTheNext(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	o := playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		prompt := cli.openACP()
		long := func(n int) string { // in a way that would grow if it were escaped
			return strings.Replace(acpText("%"), "%", strings.Repeat("<", n), 1)
		}
		cli.say(long(5<<20), long(3<<20), acpText("end"))
		cli.reply(prompt, acpEnd)
		return cli.drain()
	})
	if o.End != agents.EndClean || !strings.HasSuffix(o.Claim, "end") && !strings.HasSuffix(o.Claim, "…") {
		t.Errorf("outcome = %s %s %.100s", o.End, o.Code, o.Message)
	}
	if cut := of[agents.Truncated](h); len(cut) != 1 || cut[0].Bytes < 5<<20 {
		t.Errorf("truncated = %+v", cut)
	}
	total := 0
	for _, m := range h.texts(agents.KindAssistantMessage) {
		total += len(m)
	}
	if total != 3<<20+len("end") {
		t.Errorf("%d bytes of messages", total)
	}
}

func TestACPNothingAfterTheEndChangesIt(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	o := playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		prompt := cli.openACP()
		cli.say(acpText("done"))
		cli.reply(prompt, acpEnd)
		cli.drain()
		cli.reply(prompt, `{"stopReason":"refusal"}`)
		cli.refuse(prompt, `{"code":401,"message":"no"}`)
		cli.say(acpAsk("0", acpEditCall, acpOptions), acpNote(`{"sessionUpdate":"tool_call","toolCallId":"late","kind":"edit","status":"in_progress"}`))
		return 7
	})
	if o.End != agents.EndClean || o.Claim != "done" || len(h.asked) != 0 || o.Unknown != 3 {
		t.Errorf("outcome = %+v, asked %d", o, len(h.asked))
	}
	if calls, results := of[agents.ToolCall](h), of[agents.ToolResult](h); len(calls) != len(results) {
		t.Errorf("%d calls have %d results", len(calls), len(results))
	}
}

func TestACPGivesEveryCallOneResult(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	o := playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		prompt := cli.openACP()
		call := func(id, rest string) string {
			return acpNote(`{"sessionUpdate":"tool_call","toolCallId":"` + id + `"` + rest + `}`)
		}
		cli.say(
			call("a", `,"kind":"execute","status":"pending","rawInput":{}`), // the model is still writing it
			acpNote(`{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"in_progress","rawInput":{"command":"exit 3"}}`),
			acpNote(`{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed","content":[{"type":"content","content":{"type":"text","text":"out"}}],"rawOutput":{"exitCode":3,"output":"out"}}`),
			acpDone("a", "completed"),                          // a second result
			call("a", `,"kind":"edit","status":"in_progress"`), // and the id again
			acpDone("never", "completed"),                      // one that was never announced
			call("b", `,"kind":"read","status":"in_progress"`), // one that never ends
			call("c", `,"kind":"edit","status":"pending"`),     // one that never begins
			acpText("done"))
		cli.reply(prompt, acpEnd)
		return cli.drain()
	})
	if o.End != agents.EndClean || o.Unknown != 2 {
		t.Errorf("outcome = %+v", o)
	}
	got := map[string]agents.ToolResult{}
	for _, r := range of[agents.ToolResult](h) {
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
	if calls := of[agents.ToolCall](h); len(calls) != 3 || string(calls[0].Input) != `{"command":"exit 3"}` {
		t.Errorf("calls = %+v", calls)
	}
}

func TestACPADeniedCallThatRanAllTheSameIsTold(t *testing.T) {
	t.Parallel()
	h := &recorder{decide: acpDeny}
	_, o := permit(t, h, acpAsk("0", `{"toolCallId":"other","kind":"edit"}`, acpOptions))
	if o.Unknown != 0 {
		t.Errorf("unknown = %d", o.Unknown)
	}
	h = &recorder{decide: acpDeny}
	o = playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		prompt := cli.openACP()
		cli.say(acpAsk("0", acpEditCall, acpOptions))
		cli.hear()
		cli.say(acpDone("c1", "completed"), acpText("I did it."))
		cli.reply(prompt, acpEnd)
		return cli.drain()
	})
	if r := of[agents.ToolResult](h); len(r) != 1 || r[0].Status != agents.StatusDenied || o.Unknown != 1 {
		t.Errorf("results = %+v, unknown %d", r, o.Unknown)
	}
}

func TestACPForgetsNoCallHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	o := playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		prompt := cli.openACP()
		for i := range 1500 { // more than may be open at once
			cli.say(acpNote(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"c%d","kind":"read","status":"in_progress"}`, i)))
		}
		cli.reply(prompt, acpEnd)
		return cli.drain()
	})
	if calls, results := len(of[agents.ToolCall](h)), len(of[agents.ToolResult](h)); calls != results || calls != 1024 || o.Unknown != 1500-1024 {
		t.Errorf("%d calls, %d results, %d unknown", calls, results, o.Unknown)
	}
}
