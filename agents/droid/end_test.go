package droid_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

func TestEndings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		exit  int
		end   agents.End
		code  string
		words string
	}{
		"completed":             {[]string{saysFrame(`{"type":"text","text":"done"}`), endFrame("completed")}, 0, agents.EndClean, "", ""},
		"with an odd exit code": {[]string{endFrame("completed")}, 9, agents.EndClean, "", ""},
		"a refused key": {[]string{noteFrame(`{"type":"error","message":"401 no","errorType":"Error"}`), endFrame("model_authentication_failed")},
			0, agents.EndFailed, "agent_auth", "401 no"},
		"a used up limit":    {[]string{endFrame("model_rate_limited")}, 0, agents.EndFailed, "agent_quota", "model_rate_limited"},
		"a used up account":  {[]string{endFrame("model_usage_exhausted")}, 0, agents.EndFailed, "agent_quota", ""},
		"an unknown reason":  {[]string{endFrame("brand_new")}, 0, agents.EndFailed, "agent_failed", "brand_new"},
		"cancelled by none":  {[]string{endFrame("cancelled")}, 0, agents.EndFailed, "agent_failed", "cancelled"},
		"no reason":          {[]string{endFrame("")}, 0, agents.EndFailed, "agent_no_result", ""},
		"left quietly":       {nil, 0, agents.EndFailed, "agent_no_result", ""},
		"crashed":            {nil, 139, agents.EndFailed, "agent_crashed", "139"},
		"an open call":       {[]string{usesFrame("a", "Read", `{}`), endFrame("completed")}, 0, agents.EndFailed, "agent_no_result", "1 tool calls"},
		"an open subagent":   {[]string{noteFrame(`{"type":"child_session_available","childSessionId":"k"}`), endFrame("completed")}, 0, agents.EndFailed, "agent_no_result", "1 subagents"},
		"the prompt refused": {[]string{`{"type":"response","id":"prompt","error":{"code":-32603,"message":"no session"}}`}, 0, agents.EndFailed, "agent_failed", "no session"},
		"more autonomy": {[]string{noteFrame(`{"type":"settings_updated","settings":{"autonomyLevel":"high"}}`), endFrame("completed")},
			0, agents.EndFailed, "agent_failed", `"high"`},
		"another session's end": {[]string{strings.Replace(endFrame("completed"), "s-1", "s-2", 1)}, 0, agents.EndFailed, "agent_no_result", ""},
		"frames after the end":  {[]string{endFrame("completed"), endFrame("model_rate_limited"), usesFrame("a", "Read", `{}`), returnsFrame("a", "x", false)}, 0, agents.EndClean, "", ""},
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
			if o.SessionID != "s-1" || o.Version != "9.9.9" {
				t.Errorf("outcome = %+v, want session and version", o)
			}
		})
	}
}

func TestDoesNotPromptASessionThatIsNotAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, words string }{
		"refused":        {`{"type":"response","id":"open","error":{"code":-32603,"message":"no such model"}}`, "no such model"},
		"more autonomy":  {`{"type":"response","id":"open","result":{"sessionId":"s-1","settings":{"autonomyLevel":"medium"}}}`, `"medium"`},
		"no autonomy":    {`{"type":"response","id":"open","result":{"sessionId":"s-1"}}`, "autonomy"},
		"no session":     {`{"type":"response","id":"open","result":{"settings":{"autonomyLevel":"off"}}}`, "no session"},
		"an odd session": {`{"type":"response","id":"open","result":{"sessionId":{},"settings":{"autonomyLevel":"off"}}}`, "no session"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var after map[string]any
			o := playTurn(t, &agentstest.Recorder{}, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				cli.Hear()
				cli.Say(endFrame("completed"), c.answer)
				after = cli.Hear()
				return 0
			})
			if o.End != agents.EndFailed || o.Code != "agent_failed" || !strings.Contains(o.Message, c.words) || after != nil {
				t.Errorf("outcome = %+v, want %q; heard %v", o, c.words, after)
			}
		})
	}
}

func TestTakesNoSettingsOverFromTheTurnBefore(t *testing.T) {
	t.Parallel()
	var opened, set string
	o := playTurn(t, &agentstest.Recorder{}, agents.Turn{Resume: true, SessionID: "s-1"}, func(cli *agentstest.ScriptedCLI) int {
		opened = fmt.Sprint(cli.Hear())
		cli.Say(`{"type":"response","id":"open","result":{"session":{},"settings":{"autonomyLevel":"high"}}}`)
		set = fmt.Sprint(cli.Hear())
		cli.Say(`{"type":"response","id":"settings","error":{"message":"will not"}}`)
		return cli.Drain()
	})
	if !strings.Contains(opened, "droid.load_session") || !strings.Contains(set, "droid.update_session_settings") || !strings.Contains(set, "autonomyLevel:off") {
		t.Errorf("heard %s and %s", opened, set)
	}
	if o.End != agents.EndFailed || !strings.Contains(o.Message, "will not") {
		t.Errorf("outcome = %+v", o)
	}
}

func TestGivesAProviderUpThatKeepsFailing(t *testing.T) {
	t.Parallel()
	for reason, code := range map[string]string{"rate_limited": "agent_quota", "overloaded": "agent_failed"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var heard string
			o := playTurn(t, &agentstest.Recorder{}, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				begin(cli)
				for range 3 {
					cli.Say(noteFrame(`{"type":"llm_retry","attempt":1,"reason":"` + reason + `"}`))
				}
				// An answer starts the count again, a piece of one does not.
				cli.Say(saysFrame(`{"type":"text","text":"yes"}`))
				for range 4 {
					cli.Say(noteFrame(`{"type":"assistant_text_delta","messageId":"x","textDelta":"a"}`), noteFrame(`{"type":"llm_retry","attempt":1,"reason":"`+reason+`"}`))
				}
				heard = fmt.Sprint(cli.Hear()["method"])
				cli.Say(endFrame("cancelled"))
				return cli.Drain()
			})
			if heard != "droid.interrupt_session" || o.End != agents.EndFailed || o.Code != code {
				t.Errorf("heard %q, outcome = %+v", heard, o)
			}
		})
	}
}

func TestDeniesWhatIsOpenWhenTheTurnIsStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stop := errors.New("time is up")
	h := &agentstest.Recorder{Decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
		cancel(stop)
		<-ctx.Done()
		return agents.Decision{Allow: true}
	}}
	a, ok := agents.Lookup("droid")
	if !ok {
		t.Fatal("droid is not registered")
	}
	var heard []string
	o, err := a.Run(ctx, agentstest.PreparedBox{ScriptBox: agentstest.ScriptBox{Play: func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(usesFrame("a", "Execute", `{"command":"x"}`), asksFrame(`"r"`, useBlock("a", "Execute", `{"command":"x"}`)))
		for m := cli.Hear(); m != nil; m = cli.Hear() {
			heard = append(heard, fmt.Sprint(m["method"], m["result"]))
			if m["method"] == "droid.interrupt_session" {
				cli.Say(endFrame("cancelled"))
			}
		}
		return 0
	}}}, agents.Turn{Prompt: "go"}, h)
	if !errors.Is(err, stop) || o.End != agents.EndInterrupted {
		t.Errorf("run: %v, %+v", err, o)
	}
	if len(heard) != 2 || !strings.Contains(heard[0], "cancel") || !strings.Contains(heard[1], "interrupt_session") {
		t.Errorf("heard %q", heard)
	}
	if r := agentstest.Of[agents.ToolResult](h); len(r) != 1 || r[0].Status != agents.StatusCancelled {
		t.Errorf("results = %+v", r)
	}
}

func TestAddsUpTheUsageOfATurn(t *testing.T) {
	t.Parallel()
	o := playTurn(t, &agentstest.Recorder{}, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(noteFrame(`{"type":"child_session_available","childSessionId":"kid"}`), saysFrame(`{"type":"text","text":"a"}`), endFrame("completed"),
			noteFrame(`{"type":"create_message","message":{"id":"task-completion:1","role":"system","content":[{"type":"text","text":"task_id: kid"}]}}`),
			saysFrame(`{"type":"text","text":"b"}`), endFrame("completed"))
		return cli.Drain()
	})
	if want := (agents.Usage{InputTokens: 22, OutputTokens: 4, CacheReadTokens: 6, CacheWriteTokens: 8, Turns: 2}); o.End != agents.EndClean || o.Usage != want || o.Claim != "b" {
		t.Errorf("outcome = %+v, want %+v", o, want)
	}
}
