package acp_test

import (
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

// FuzzACP feeds a turn whatever a process could print. It must end, and every
// call must have exactly one result.
func FuzzACP(f *testing.F) {
	for _, lines := range [][]string{
		{textFrame("a"), askFrame("0", editCall, optionList), doneFrame("c1", "completed"), `{"id":3,"result":` + endResult + `}`},
		{askFrame(`"a"`, editCall, optionList), askFrame(`"a"`, editCall, optionList), askFrame("1e9", `{}`, `[]`)},
		{`{"id":3,"error":{"code":401,"message":"x","data":[]}}`, `{"id":3,"result":null}`, `{"id":3}`, `{"id":3,"error":{"code":1.5}}`},
		{`{"method":"fs/read_text_file","id":-0.0}`, `{"method":"","id":0}`, `{"ID":0,"METHOD":"x","Method":"y"}`, `{"method":"$/cancel_request","id":0}`},
		{noteFrame(`{"sessionUpdate":"plan","entries":{}}`), noteFrame(`{"sessionUpdate":"tool_call","toolCallId":"a","kind":7,"content":7,"locations":[7],"rawInput":7,"status":"completed"}`)},
		{"\xff\x00", "{", `{"jsonrpc":"2.0","method":"session/update","params":{}} trailing`, noteFrame(`{"sessionUpdate":"usage_update","cost":{"amount":1e308,"currency":"USD"}}`)},
	} {
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, output string) {
		h := &agentstest.Recorder{}
		o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
			begin(cli)
			cli.Say(output)
			return 0
		})
		h.Check(t, o, output, "end_turn")
	})
}
