package agents_test

import (
	"strings"
	"testing"

	"sandboxrun/agents"
)

// FuzzACP feeds a turn whatever a process could print. It must end, and every
// call must have exactly one result.
func FuzzACP(f *testing.F) {
	for _, lines := range [][]string{
		{acpText("a"), acpAsk("0", acpEditCall, acpOptions), acpDone("c1", "completed"), `{"id":3,"result":` + acpEnd + `}`},
		{acpAsk(`"a"`, acpEditCall, acpOptions), acpAsk(`"a"`, acpEditCall, acpOptions), acpAsk("1e9", `{}`, `[]`)},
		{`{"id":3,"error":{"code":401,"message":"x","data":[]}}`, `{"id":3,"result":null}`, `{"id":3}`, `{"id":3,"error":{"code":1.5}}`},
		{`{"method":"fs/read_text_file","id":-0.0}`, `{"method":"","id":0}`, `{"ID":0,"METHOD":"x","Method":"y"}`, `{"method":"$/cancel_request","id":0}`},
		{acpNote(`{"sessionUpdate":"plan","entries":{}}`), acpNote(`{"sessionUpdate":"tool_call","toolCallId":"a","kind":7,"content":7,"locations":[7],"rawInput":7,"status":"completed"}`)},
		{"\xff\x00", "{", `{"jsonrpc":"2.0","method":"session/update","params":{}} trailing`, acpNote(`{"sessionUpdate":"usage_update","cost":{"amount":1e308,"currency":"USD"}}`)},
	} {
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, output string) {
		h := &recorder{}
		o := playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
			cli.openACP()
			cli.say(output)
			return 0
		})
		h.holds(t, o, output, "end_turn")
	})
}
