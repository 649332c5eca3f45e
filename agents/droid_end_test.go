package agents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
)

func TestDroidEndings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		exit  int
		end   agents.End
		code  string
		words string
	}{
		"completed":             {[]string{droidSays(`{"type":"text","text":"done"}`), droidEnds("completed")}, 0, agents.EndClean, "", ""},
		"with an odd exit code": {[]string{droidEnds("completed")}, 9, agents.EndClean, "", ""},
		"a refused key": {[]string{droidNote(`{"type":"error","message":"401 no","errorType":"Error"}`), droidEnds("model_authentication_failed")},
			0, agents.EndFailed, "agent_auth", "401 no"},
		"a used up limit":    {[]string{droidEnds("model_rate_limited")}, 0, agents.EndFailed, "agent_quota", "model_rate_limited"},
		"a used up account":  {[]string{droidEnds("model_usage_exhausted")}, 0, agents.EndFailed, "agent_quota", ""},
		"an unknown reason":  {[]string{droidEnds("brand_new")}, 0, agents.EndFailed, "agent_failed", "brand_new"},
		"cancelled by none":  {[]string{droidEnds("cancelled")}, 0, agents.EndFailed, "agent_failed", "cancelled"},
		"no reason":          {[]string{droidEnds("")}, 0, agents.EndFailed, "agent_no_result", ""},
		"left quietly":       {nil, 0, agents.EndFailed, "agent_no_result", ""},
		"crashed":            {nil, 139, agents.EndFailed, "agent_crashed", "139"},
		"an open call":       {[]string{droidUses("a", "Read", `{}`), droidEnds("completed")}, 0, agents.EndFailed, "agent_no_result", "1 tool calls"},
		"an open subagent":   {[]string{droidNote(`{"type":"child_session_available","childSessionId":"k"}`), droidEnds("completed")}, 0, agents.EndFailed, "agent_no_result", "1 subagents"},
		"the prompt refused": {[]string{`{"type":"response","id":"prompt","error":{"code":-32603,"message":"no session"}}`}, 0, agents.EndFailed, "agent_failed", "no session"},
		"more autonomy": {[]string{droidNote(`{"type":"settings_updated","settings":{"autonomyLevel":"high"}}`), droidEnds("completed")},
			0, agents.EndFailed, "agent_failed", `"high"`},
		"another session's end": {[]string{strings.Replace(droidEnds("completed"), "s-1", "s-2", 1)}, 0, agents.EndFailed, "agent_no_result", ""},
		"frames after the end":  {[]string{droidEnds("completed"), droidEnds("model_rate_limited"), droidUses("a", "Read", `{}`), droidReturns("a", "x", false)}, 0, agents.EndClean, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &recorder{}
			o := playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
				cli.beginDroid()
				cli.say(c.lines...)
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

func TestDroidDoesNotPromptASessionThatIsNotAsItWasAskedFor(t *testing.T) {
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
			o := playDroid(t, &recorder{}, agents.Turn{}, func(cli *scriptCLI) int {
				cli.hear()
				cli.say(droidEnds("completed"), c.answer)
				after = cli.hear()
				return 0
			})
			if o.End != agents.EndFailed || o.Code != "agent_failed" || !strings.Contains(o.Message, c.words) || after != nil {
				t.Errorf("outcome = %+v, want %q; heard %v", o, c.words, after)
			}
		})
	}
}

func TestDroidTakesNoSettingsOverFromTheTurnBefore(t *testing.T) {
	t.Parallel()
	var opened, set string
	o := playDroid(t, &recorder{}, agents.Turn{Resume: true, SessionID: "s-1"}, func(cli *scriptCLI) int {
		opened = fmt.Sprint(cli.hear())
		cli.say(`{"type":"response","id":"open","result":{"session":{},"settings":{"autonomyLevel":"high"}}}`)
		set = fmt.Sprint(cli.hear())
		cli.say(`{"type":"response","id":"settings","error":{"message":"will not"}}`)
		return cli.drain()
	})
	if !strings.Contains(opened, "droid.load_session") || !strings.Contains(set, "droid.update_session_settings") || !strings.Contains(set, "autonomyLevel:off") {
		t.Errorf("heard %s and %s", opened, set)
	}
	if o.End != agents.EndFailed || !strings.Contains(o.Message, "will not") {
		t.Errorf("outcome = %+v", o)
	}
}

func TestDroidGivesAProviderUpThatKeepsFailing(t *testing.T) {
	t.Parallel()
	for reason, code := range map[string]string{"rate_limited": "agent_quota", "overloaded": "agent_failed"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var heard string
			o := playDroid(t, &recorder{}, agents.Turn{}, func(cli *scriptCLI) int {
				cli.beginDroid()
				for range 3 {
					cli.say(droidNote(`{"type":"llm_retry","attempt":1,"reason":"` + reason + `"}`))
				}
				// An answer starts the count again, a piece of one does not.
				cli.say(droidSays(`{"type":"text","text":"yes"}`))
				for range 4 {
					cli.say(droidNote(`{"type":"assistant_text_delta","messageId":"x","textDelta":"a"}`), droidNote(`{"type":"llm_retry","attempt":1,"reason":"`+reason+`"}`))
				}
				heard = fmt.Sprint(cli.hear()["method"])
				cli.say(droidEnds("cancelled"))
				return cli.drain()
			})
			if heard != "droid.interrupt_session" || o.End != agents.EndFailed || o.Code != code {
				t.Errorf("heard %q, outcome = %+v", heard, o)
			}
		})
	}
}

func TestDroidDeniesWhatIsOpenWhenTheTurnIsStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stop := errors.New("time is up")
	h := &recorder{decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
		cancel(stop)
		<-ctx.Done()
		return agents.Decision{Allow: true}
	}}
	a, ok := agents.Lookup("droid")
	if !ok {
		t.Fatal("droid is not registered")
	}
	var heard []string
	o, err := a.Run(ctx, preparedBox{scriptBox{play: func(cli *scriptCLI) int {
		cli.beginDroid()
		cli.say(droidUses("a", "Execute", `{"command":"x"}`), droidAsks(`"r"`, droidUse("a", "Execute", `{"command":"x"}`)))
		for m := cli.hear(); m != nil; m = cli.hear() {
			heard = append(heard, fmt.Sprint(m["method"], m["result"]))
			if m["method"] == "droid.interrupt_session" {
				cli.say(droidEnds("cancelled"))
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
	if r := of[agents.ToolResult](h); len(r) != 1 || r[0].Status != agents.StatusCancelled {
		t.Errorf("results = %+v", r)
	}
}

func TestDroidAddsUpTheUsageOfATurn(t *testing.T) {
	t.Parallel()
	o := playDroid(t, &recorder{}, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		cli.say(droidNote(`{"type":"child_session_available","childSessionId":"kid"}`), droidSays(`{"type":"text","text":"a"}`), droidEnds("completed"),
			droidNote(`{"type":"create_message","message":{"id":"task-completion:1","role":"system","content":[{"type":"text","text":"task_id: kid"}]}}`),
			droidSays(`{"type":"text","text":"b"}`), droidEnds("completed"))
		return cli.drain()
	})
	if want := (agents.Usage{InputTokens: 22, OutputTokens: 4, CacheReadTokens: 6, CacheWriteTokens: 8, Turns: 2}); o.End != agents.EndClean || o.Usage != want || o.Claim != "b" {
		t.Errorf("outcome = %+v, want %+v", o, want)
	}
}
