package pi_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	_ "sandboxrun/agents/pi"
	"sandboxrun/internal/wire"
)

// playTurn takes one turn against a script.
func playTurn(t *testing.T, h *agentstest.Recorder, turn agents.Turn, play func(cli *agentstest.ScriptedCLI) int) agents.Outcome {
	t.Helper()
	a, ok := agents.Lookup("PI")
	if !ok {
		t.Fatal("pi is not registered")
	}
	turn.Prompt, turn.Wire = "go", wire.AnthropicMessages
	o, err := a.Run(t.Context(), agentstest.PreparedBox{ScriptBox: agentstest.ScriptBox{Play: play}}, turn, h)
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

const (
	readyFrame   = `{"type":"extension_ui_request","id":"u-1","method":"setStatus","statusKey":"sandboxrun.ready","statusText":"{\"version\":\"9.9.9\",\"failed\":[]}"}`
	stateFrame   = `{"id":"state","type":"response","command":"get_state","success":true,"data":{"sessionId":"s-1","messageCount":0,"model":{"id":"m"}}}`
	promptFrame  = `{"id":"prompt","type":"response","command":"prompt","success":true}`
	settledFrame = `{"type":"agent_settled"}`
)

// begin plays the CLI until it has the prompt.
func begin(c *agentstest.ScriptedCLI) {
	c.Hear()
	c.Say(readyFrame, stateFrame)
	c.Hear()
	c.Say(promptFrame)
}

func answerFrame(stop, text, problem string) string {
	return frameOf(map[string]any{"type": "message_end", "message": map[string]any{
		"role": "assistant", "content": []any{map[string]string{"type": "text", "text": text}}, "stopReason": stop, "errorMessage": problem,
		"usage": map[string]int{"input": 1, "output": 2},
	}})
}

// usesFrame begins the call a, and returnsFrame ends it.
func usesFrame(tool, input string) string {
	return `{"type":"tool_execution_start","toolCallId":"a","toolName":"` + tool + `","args":` + input + `}`
}

func returnsFrame(text string, failed bool) string {
	return frameOf(map[string]any{"type": "tool_execution_end", "toolCallId": "a", "isError": failed,
		"result": map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}}})
}

func asksFrame(id, title, about string) string {
	return frameOf(map[string]any{"type": "extension_ui_request", "id": id, "method": "editor", "title": title, "prefill": about})
}

func frameOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestEndings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		exit  int
		end   agents.End
		code  string
		words string
	}{
		"done":                  {[]string{answerFrame("stop", "done", ""), settledFrame}, 0, agents.EndClean, "", ""},
		"with an odd exit code": {[]string{answerFrame("stop", "done", ""), settledFrame}, 9, agents.EndClean, "", ""},
		"done at the second attempt": {[]string{answerFrame("error", "par", "terminated"), answerFrame("stop", "done", ""), settledFrame},
			0, agents.EndClean, "", ""},
		"a refused key":         {[]string{answerFrame("error", "", `401 {"type":"error"}`), settledFrame}, 0, agents.EndFailed, "agent_auth", "401"},
		"a key Google refuses":  {[]string{answerFrame("error", "", `{"error":{"code":403,"message":"no"}}`), settledFrame}, 0, agents.EndFailed, "agent_auth", "no"},
		"a key OpenAI refuses":  {[]string{answerFrame("error", "", `OpenAI API error (401): no`), settledFrame}, 0, agents.EndFailed, "agent_auth", "no"},
		"a used up account":     {[]string{answerFrame("error", "", "OpenAI API error (402): pay"), settledFrame}, 0, agents.EndFailed, "agent_quota", "pay"},
		"a used up limit":       {[]string{answerFrame("error", "", "429: slow down"), settledFrame}, 0, agents.EndFailed, "agent_quota", "slow"},
		"a number that is none": {[]string{answerFrame("error", "", "read 429 bytes"), settledFrame}, 0, agents.EndFailed, "agent_failed", "bytes"},
		"cut at the limit":      {[]string{answerFrame("length", "do", ""), settledFrame}, 0, agents.EndFailed, "agent_failed", "limit of tokens"},
		"aborted by none":       {[]string{answerFrame("aborted", "", ""), settledFrame}, 0, agents.EndFailed, "agent_failed", "aborted"},
		"no answer":             {[]string{settledFrame}, 0, agents.EndFailed, "agent_failed", "without an answer"},
		"not settled":           {[]string{answerFrame("stop", "done", "")}, 0, agents.EndFailed, "agent_no_result", ""},
		"left quietly":          {nil, 0, agents.EndFailed, "agent_no_result", ""},
		"crashed":               {nil, 139, agents.EndFailed, "agent_crashed", "139"},
		"an open call":          {[]string{usesFrame("read", `{}`), answerFrame("stop", "done", ""), settledFrame}, 0, agents.EndFailed, "agent_no_result", "1 tool calls"},
		"the prompt refused":    {[]string{`{"id":"prompt","type":"response","success":false,"error":"no model"}`}, 0, agents.EndFailed, "agent_failed", "no model"},
		"frames after the end":  {[]string{answerFrame("stop", "done", ""), settledFrame, answerFrame("stop", "", ""), settledFrame}, 0, agents.EndClean, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{}
			o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				begin(cli)
				cli.Say(c.lines...)
				return c.exit
			})
			if o.End != c.end || o.Code != c.code || !strings.Contains(o.Message, c.words) {
				t.Errorf("outcome = %+v, want %s %s %q", o, c.end, c.code, c.words)
			}
			if o.SessionID != "s-1" || o.Version != "9.9.9" || o.End == agents.EndClean && o.Claim != "done" {
				t.Errorf("outcome = %+v, want session, version and claim", o)
			}
			h.Check(t, o, strings.Join(c.lines, "\n"), "agent_settled")
		})
	}
}

func TestDoesNotPromptASessionThatIsNotAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turn  agents.Turn
		lines []string
		words string
	}{
		"without the guard":  {agents.Turn{}, []string{stateFrame}, "makes the agent ask"},
		"an odd guard":       {agents.Turn{}, []string{strings.Replace(readyFrame, "9.9.9", "", 1), stateFrame}, "makes the agent ask"},
		"a guard too late":   {agents.Turn{}, []string{stateFrame, readyFrame}, "makes the agent ask"},
		"another session":    {agents.Turn{SessionID: "s-2"}, []string{readyFrame, stateFrame}, "s-1"},
		"no session":         {agents.Turn{}, []string{readyFrame, strings.Replace(stateFrame, "s-1", "", 1)}, "no session"},
		"nothing to go on":   {agents.Turn{SessionID: "s-1", Resume: true}, []string{readyFrame, stateFrame}, "is not there"},
		"refused":            {agents.Turn{}, []string{readyFrame, `{"id":"state","type":"response","success":false,"error":"broken"}`}, "broken"},
		"settled before all": {agents.Turn{}, []string{answerFrame("stop", "done", ""), settledFrame, stateFrame}, "makes the agent ask"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var after map[string]any
			o := playTurn(t, &agentstest.Recorder{}, c.turn, func(cli *agentstest.ScriptedCLI) int {
				cli.Hear()
				cli.Say(c.lines...)
				after = cli.Hear()
				return 0
			})
			if o.End != agents.EndFailed || o.Code != "agent_failed" || !strings.Contains(o.Message, c.words) || after != nil {
				t.Errorf("outcome = %+v, want %q; heard %v", o, c.words, after)
			}
		})
	}
}

func TestDeniesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	const call = `{"id":"a","tool":"bash","input":{"command":"x"}}`
	for name, about := range map[string]string{
		"no call": `{"tool":"bash","input":{}}`, "another call": strings.Replace(call, `"a"`, `"b"`, 1), "no tool": `{"id":"a"}`, "no json": "{", "nothing": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{}
			var heard map[string]any
			playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				begin(cli)
				cli.Say(usesFrame("bash", `{"command":"x"}`), asksFrame("u", "sandboxrun.approve", about))
				heard = cli.Hear()
				cli.Say(returnsFrame("no", true), answerFrame("stop", "done", ""), settledFrame)
				return cli.Drain()
			})
			if value, _ := heard["value"].(string); len(h.Asked) != 0 || heard["id"] != "u" || !strings.Contains(value, `"allow":false`) {
				t.Errorf("asked %+v, answered %v", h.Asked, heard)
			}
		})
	}
}

func TestAnswersDialogsOfOtherExtensionsWithNothing(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		for _, frame := range []string{
			`{"type":"extension_ui_request","id":"1","method":"select","title":"t","options":["a"]}`, `{"type":"extension_ui_request","id":"2","method":"confirm","title":"t","message":"m"}`,
			`{"type":"extension_ui_request","id":"3","method":"input","title":"t"}`, asksFrame("4", "t", "{}"),
		} {
			cli.Say(frame)
			if m := cli.Hear(); m["cancelled"] != true || m["value"] != nil {
				t.Errorf("%s was answered with %v", frame, m)
			}
		}
		cli.Say(`{"type":"extension_ui_request","id":"5","method":"notify","message":"hello"}`, answerFrame("stop", "done", ""), settledFrame)
		return cli.Drain()
	})
	if said := strings.Join(h.Texts(agents.KindSystemMessage), "|"); o.End != agents.EndClean || o.Unknown != 4 || !strings.Contains(said, "hello") {
		t.Errorf("outcome = %+v, said %q", o, said)
	}
}

func TestAStopDeniesAbortsAndWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &agentstest.Recorder{Decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
			<-ctx.Done()
			return agents.Decision{Allow: true}
		}}
		var heard []string
		ctx, cancel := context.WithCancelCause(t.Context())
		box := agentstest.PreparedBox{ScriptBox: agentstest.ScriptBox{Play: func(cli *agentstest.ScriptedCLI) int {
			begin(cli)
			cli.Say(usesFrame("bash", `{"command":"x"}`), asksFrame("u", "sandboxrun.approve", `{"id":"a","tool":"bash","input":{"command":"x"}}`))
			time.AfterFunc(time.Minute, func() { cancel(context.Canceled) })
			for range 2 {
				m := cli.Hear()
				value, _ := m["value"].(string)
				heard = append(heard, m["type"].(string)+" "+value)
			}
			cli.Say(returnsFrame("Operation aborted", true), answerFrame("aborted", "", "aborted"), settledFrame)
			return cli.Drain()
		}}}
		a, _ := agents.Lookup("pi")
		o, err := a.Run(ctx, box, agents.Turn{Prompt: "go", Wire: wire.AnthropicMessages}, h)
		if err == nil || o.End != agents.EndInterrupted || len(heard) != 2 || !strings.Contains(heard[0], `"allow":false`) || heard[1] != "abort " {
			t.Errorf("%v, outcome = %+v, heard %q", err, o, heard)
		}
		if r := agentstest.Of[agents.ToolResult](h); len(r) != 1 || r[0].Status != agents.StatusCancelled {
			t.Errorf("results = %+v", r)
		}
	})
}

// FuzzPi feeds a turn whatever a process could print. It must end, and every
// call must have exactly one result.
func FuzzPi(f *testing.F) {
	for _, lines := range [][]string{
		{readyFrame, stateFrame, promptFrame, usesFrame("bash", `{"command":"x"}`), returnsFrame("\n\nCommand exited with code 7", true), answerFrame("stop", "done", ""), settledFrame},
		{settledFrame, usesFrame("write", `[]`), usesFrame("write", `null`), returnsFrame("", false), returnsFrame("", false)},
		{readyFrame, stateFrame, asksFrame("u", "sandboxrun.ask", `{"id":"a","questions":[{}]}`), asksFrame("u", "sandboxrun.approve", `{"id":{}}`)},
		{`{"type":"message_end","message":{"role":"assistant","content":"text","usage":[]}}`, `{"type":"message_end","message":{"role":"assistant","content":[1,{}],"stopReason":9}}`},
		{`{"type":"extension_ui_request","method":"editor"}`, `{"type":"response","id":"state"}`, "\xff\x00", "{", `{"type":"tool_execution_update","toolCallId":"a","partialResult":[]}`},
	} {
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, output string) {
		h := &agentstest.Recorder{}
		o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
			cli.Say(output)
			return 0
		})
		h.Check(t, o, output, "agent_settled")
	})
}
