package claude_test

import (
	"strings"
	"testing"

	"sandboxrun/agents/agentstest"
)

// FuzzClaude feeds a turn whatever a process could print. It must end, and
// every call must have exactly one result.
func FuzzClaude(f *testing.F) {
	for _, lines := range [][]string{
		{frameInit, frameTool("a", "Bash", `{"command":"x"}`), frameAsk(`0`, "a", "Bash", `{}`), frameToolResult("a", "Exit code 7\\nx"), frameResult("done")},
		{frameTool("a", "Write", `[]`), frameTool("a", "Write", `null`), frameResult("early"), frameTasks(3)},
		{`{"type":"system","subtype":"api_retry","error_status":401,"retry_delay_ms":-1e300}`},
		{`{"type":"assistant","is_api_error_message":true,"error":"billing_error","message":{"content":"text"}}`},
		{`{"type":"user","message":{"content":null},"tool_use_result":"text"}`, `{"type":"control_cancel_request","request_id":{}}`},
		{`{"type":"control_response","response":{"subtype":"error"}}`, "\xff\x00", "{", frameTasks(0)},
	} {
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, output string) {
		h := &agentstest.Recorder{}
		o := mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
			cli.Say(output)
			return 0
		})
		h.Check(t, o, output, "result")
	})
}
