package acp_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

func TestMakesOneMessageOfARunOfChunks(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		cli.Say(noteFrame(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"h"}}`),
			noteFrame(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"m"}}`),
			textFrame("Hel"), textFrame("lo ✓"),
			noteFrame(`{"sessionUpdate":"plan","entries":[{"content":"one","status":"completed","priority":"high"},{"content":"two","status":"pending","priority":"low"}]}`),
			textFrame("Bye"))
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.Claim != "Bye" || o.Version != "9.9.9" || o.SessionID != "s-1" || o.Unknown != 0 || o.Usage.OutputTokens != 2 {
		t.Errorf("outcome = %+v", o)
	}
	if got := h.Texts(agents.KindAssistantMessage); !slices.Equal(got, []string{"Hello ✓", "Bye"}) {
		t.Errorf("messages = %q", got)
	}
	if got := h.Texts(agents.KindThinking); !slices.Equal(got, []string{"hm"}) {
		t.Errorf("thoughts = %q", got)
	}
	if got := strings.Join(h.Texts(agents.KindSystemMessage), "|"); !strings.Contains(got, "plan:\n[x] one\n[ ] two") {
		t.Errorf("system messages = %q", got)
	}
}

func TestTellsHowATurnEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result, fault string
		end           agents.End
		code          string
	}{
		"end_turn":      {result: `{"stopReason":"end_turn"}`, end: agents.EndClean},
		"max_tokens":    {result: `{"stopReason":"max_tokens"}`, end: agents.EndFailed, code: "agent_failed"},
		"refusal":       {result: `{"stopReason":"refusal"}`, end: agents.EndFailed, code: "agent_failed"},
		"cancelled":     {result: `{"stopReason":"cancelled"}`, end: agents.EndFailed, code: "agent_failed"},
		"no reason":     {result: `{}`, end: agents.EndFailed, code: "agent_failed"},
		"null":          {result: `null`, end: agents.EndFailed, code: "agent_failed"},
		"odd reason":    {result: `{"stopReason":7}`, end: agents.EndFailed, code: "agent_failed"},
		"401":           {fault: `{"code":401,"message":"no"}`, end: agents.EndFailed, code: "agent_auth"},
		"403":           {fault: `{"code":403,"message":""}`, end: agents.EndFailed, code: "agent_auth"},
		"auth required": {fault: `{"code":-32000,"message":"Authentication required"}`, end: agents.EndFailed, code: "agent_auth"},
		"429":           {fault: `{"code":429,"message":"slow"}`, end: agents.EndFailed, code: "agent_quota"},
		"quoted 401":    {fault: `{"code":-32603,"message":"Internal error","data":{"details":"401 bad key"}}`, end: agents.EndFailed, code: "agent_auth"},
		"quoted 429":    {fault: `{"code":-32603,"message":"API Error: status 429"}`, end: agents.EndFailed, code: "agent_quota"},
		"no status":     {fault: `{"code":-32603,"message":"read 4010 bytes"}`, end: agents.EndFailed, code: "agent_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := playTurn(t, &agentstest.Recorder{}, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				prompt := begin(cli)
				if c.fault != "" {
					refuse(cli, prompt, c.fault)
				} else {
					reply(cli, prompt, c.result)
				}
				return cli.Drain()
			})
			if o.End != c.end || o.Code != c.code || o.End != agents.EndClean && o.Message == "" {
				t.Errorf("outcome = %+v, want %s %s", o, c.end, c.code)
			}
		})
	}
}

func TestEndsWithoutAnEndAreFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play func(cli *agentstest.ScriptedCLI) int
		code string
	}{
		"left":    {func(cli *agentstest.ScriptedCLI) int { begin(cli); return 0 }, "agent_no_result"},
		"crashed": {func(cli *agentstest.ScriptedCLI) int { begin(cli); return 3 }, "agent_crashed"},
		"other version": {func(cli *agentstest.ScriptedCLI) int {
			reply(cli, cli.Hear(), `{"protocolVersion":2}`)
			return cli.Drain()
		}, "agent_failed"},
		"no session": {func(cli *agentstest.ScriptedCLI) int {
			reply(cli, cli.Hear(), `{"protocolVersion":1}`)
			reply(cli, cli.Hear(), `{"sessionId":""}`)
			return cli.Drain()
		}, "agent_failed"},
		"login wanted": {func(cli *agentstest.ScriptedCLI) int {
			reply(cli, cli.Hear(), `{"protocolVersion":1}`)
			refuse(cli, cli.Hear(), `{"code":-32000,"message":"Authentication required"}`)
			return cli.Drain()
		}, "agent_auth"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if o := playTurn(t, &agentstest.Recorder{}, agents.Turn{}, c.play); o.End != agents.EndFailed || o.Code != c.code {
				t.Errorf("outcome = %+v, want %s", o, c.code)
			}
		})
	}
}

func TestSwallowsWhatALoadedSessionTellsAgain(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{Resume: true, SessionID: "s-1"}, func(cli *agentstest.ScriptedCLI) int {
		reply(cli, cli.Hear(), `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`)
		load := cli.Hear()
		cli.Say(noteFrame(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"old"}}`), textFrame("old"), noteFrame(`{"sessionUpdate":"tool_call",`+editCall[1:]))
		reply(cli, load, `{}`)
		prompt := cli.Hear()
		cli.Say(textFrame("new"))
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.SessionID != "s-1" || o.Unknown != 0 {
		t.Errorf("outcome = %+v", o)
	}
	if got := h.Texts(agents.KindAssistantMessage); !slices.Equal(got, []string{"new"}) {
		t.Errorf("messages = %q", got)
	}
	if got := agentstest.Of[agents.ToolCall](h); len(got) != 0 {
		t.Errorf("calls = %+v", got)
	}
}

func TestCannotTakeUpWhatTheAgentCannotLoad(t *testing.T) {
	t.Parallel()
	o := playTurn(t, &agentstest.Recorder{}, agents.Turn{Resume: true, SessionID: "s-1"}, func(cli *agentstest.ScriptedCLI) int {
		reply(cli, cli.Hear(), `{"protocolVersion":1}`)
		return cli.Drain()
	})
	if o.End != agents.EndFailed || o.Code != "agent_failed" {
		t.Errorf("outcome = %+v", o)
	}
}

func TestPlansInThePlanningMode(t *testing.T) {
	t.Parallel()
	var mode, prompt map[string]any
	playTurn(t, &agentstest.Recorder{}, agents.Turn{ReadOnly: true, Prompt: "/allow-all on"}, func(cli *agentstest.ScriptedCLI) int {
		mode = begin(cli)
		reply(cli, mode, `{}`)
		prompt = cli.Hear()
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	if p, _ := mode["params"].(map[string]any); mode["method"] != "session/set_mode" || p["modeId"] != "plan" {
		t.Errorf("set mode with %v", mode)
	}
	p, _ := prompt["params"].(map[string]any)
	blocks, _ := p["prompt"].([]any)
	if len(blocks) != 1 {
		t.Fatalf("prompted with %v", prompt)
	}
	if b, _ := blocks[0].(map[string]any); b["text"] != "The task: /allow-all on" {
		t.Errorf("prompted with %v: a command of the CLI", b)
	}
}

func TestClaimsNothingAndRefusesFilesAndTerminals(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	var hello map[string]any
	codes := map[string]any{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		hello = cli.Hear()
		reply(cli, hello, `{"protocolVersion":1}`)
		reply(cli, cli.Hear(), `{"sessionId":"s-1"}`)
		prompt := cli.Hear()
		for _, method := range []string{"fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create", "_x/y"} {
			cli.Say(`{"jsonrpc":"2.0","id":0,"method":"` + method + `","params":{"sessionId":"s-1","path":"/etc/passwd","command":"id"}}`)
			answer, _ := cli.Hear()["error"].(map[string]any)
			codes[method] = answer["code"]
		}
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.Unknown != 5 {
		t.Errorf("outcome = %+v, want clean with five unknown frames", o)
	}
	for method, code := range codes {
		if code != float64(-32601) {
			t.Errorf("%s answered with %v", method, code)
		}
	}
	params, _ := hello["params"].(map[string]any)
	claims, _ := params["clientCapabilities"].(map[string]any)
	if fs, _ := claims["fs"].(map[string]any); fs["readTextFile"] == true || fs["writeTextFile"] == true || claims["terminal"] == true {
		t.Errorf("claims = %v", claims)
	}
}

func TestCancelsThePromptAndAnswersEverything(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	h := &agentstest.Recorder{Decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
		cancel()
		<-ctx.Done()
		return agents.Decision{Allow: true}
	}}
	a, _ := agents.Lookup(scriptAgent)
	methods, answer := []any{}, ""
	o, err := a.Run(ctx, agentstest.ScriptBox{Play: func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		cli.Say(askFrame("0", editCall, optionList))
		for m := cli.Hear(); m != nil; m = cli.Hear() {
			if m["method"] == nil {
				answer = chosenOption(m)
				continue
			}
			methods = append(methods, m["method"])
			reply(cli, prompt, `{"stopReason":"cancelled"}`)
		}
		return 0
	}}, agents.Turn{Prompt: "go"}, h)
	if err == nil || o.End != agents.EndInterrupted {
		t.Errorf("outcome = %+v, %v", o, err)
	}
	if answer != "cancelled" || !slices.Equal(methods, []any{"session/cancel"}) {
		t.Errorf("answered %q and sent %v", answer, methods)
	}
	if r := agentstest.Of[agents.ToolResult](h); len(r) != 1 || r[0].Status != agents.StatusCancelled {
		t.Errorf("results = %+v", r)
	}
}
