package codex_test

import (
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

func TestEndsOnlyWithItsOwnTurn(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(`{"method":"turn/completed","params":{"threadId":"sub","turn":{"id":"U","status":"failed"}}}`,
			`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"old","status":"completed"}}}`,
			saysFrame("still here"), doneFrame, doneFrame,
			`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"failed","error":{"message":"late"}}}}`)
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.Claim != "still here" || o.Unknown != 3 || o.Version != "9.9.9" || o.SessionID != "T" {
		t.Errorf("outcome = %+v", o)
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	failed := func(info string) string {
		return `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"failed","error":{"message":"oh","codexErrorInfo":` + info + `}}}}`
	}
	for _, c := range []struct {
		name, line string
		exit       int
		end        agents.End
		code       string
	}{
		{"interrupted by nobody", `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"interrupted"}}}`, 0, agents.EndFailed, "agent_failed"},
		{"no status", `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U"}}}`, 0, agents.EndFailed, "agent_failed"},
		{"usage limit", failed(`"usageLimitExceeded"`), 0, agents.EndFailed, "agent_quota"},
		{"429", failed(`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`), 0, agents.EndFailed, "agent_quota"},
		{"403", failed(`{"httpConnectionFailed":{"httpStatusCode":403}}`), 0, agents.EndFailed, "agent_auth"},
		{"a word of its own", failed(`"somethingNew"`), 0, agents.EndFailed, "agent_failed"},
		{"a number", failed(`7`), 0, agents.EndFailed, "agent_failed"},
		{"left quietly", "", 0, agents.EndFailed, "agent_no_result"},
		{"died", "", 101, agents.EndFailed, "agent_crashed"},
		{"ended and died", doneFrame, 101, agents.EndClean, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{}
			o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				begin(cli)
				if c.line != "" {
					cli.Say(c.line)
					cli.Drain()
				}
				return c.exit
			})
			if o.End != c.end || o.Code != c.code {
				t.Errorf("outcome = %+v, want %s %s", o, c.end, c.code)
			}
		})
	}
}

func TestRefusedToBegin(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"1", "2", "3"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{}
			o := playTurn(t, h, agents.Turn{Resume: true, SessionID: "T"}, func(cli *agentstest.ScriptedCLI) int {
				cli.Hear()
				if id != "1" {
					cli.Say(`{"id":1,"result":{"userAgent":"x"}}`)
					cli.Hear()
					cli.Hear()
				}
				if id == "3" {
					cli.Say(`{"id":2,"result":{"thread":{"id":"T"},"model":"m"}}`)
					cli.Hear()
				}
				cli.Say(`{"id":` + id + `,"error":{"code":-32600,"message":"not today"}}`)
				return cli.Drain()
			})
			if o.End != agents.EndFailed || o.Code != "agent_failed" || !strings.Contains(o.Message, "not today") || o.SessionID != "T" {
				t.Errorf("outcome = %+v", o)
			}
		})
	}
}

func TestAsksForTheSandboxInEveryTurn(t *testing.T) {
	t.Parallel()
	for _, resume := range []bool{false, true} {
		h := &agentstest.Recorder{}
		var heard map[string]map[string]any
		playTurn(t, h, agents.Turn{Resume: resume, SessionID: "T", ReadOnly: true, Settings: agents.Settings{
			"base_instructions": []byte(`"be a pirate"`), "model_reasoning_effort": []byte(`"low"`), "model_reasoning_summary": []byte(`"none"`),
		}}, func(cli *agentstest.ScriptedCLI) int {
			heard = begin(cli)
			cli.Say(doneFrame)
			return cli.Drain()
		})
		begin, _ := heard[map[bool]string{false: "thread/start", true: "thread/resume"}[resume]]["params"].(map[string]any)
		start, _ := heard["turn/start"]["params"].(map[string]any)
		policy, _ := start["sandboxPolicy"].(map[string]any)
		mode, _ := start["collaborationMode"].(map[string]any)
		if begin["sandbox"] != "read-only" || begin["baseInstructions"] != "be a pirate" || policy["type"] != "externalSandbox" ||
			start["approvalPolicy"] != "untrusted" || start["effort"] != "low" || start["summary"] != "none" || mode["mode"] != "plan" {
			t.Errorf("resume %v: begin %v, start %v", resume, begin, start)
		}
	}
}

func TestCountsTokensWithoutTheCacheTwice(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	usage := noteFrame("thread/tokenUsage/updated", `{"threadId":"T","tokenUsage":{"total":{"inputTokens":99999},"last":{"inputTokens":1000,"cachedInputTokens":200,"cacheWriteInputTokens":100,"outputTokens":50}}}`)
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(usage, usage, doneFrame)
		return cli.Drain()
	})
	if want := (agents.Usage{InputTokens: 1400, CacheReadTokens: 400, CacheWriteTokens: 200, OutputTokens: 100, Turns: 2}); o.Usage != want {
		t.Errorf("usage = %+v, want %+v", o.Usage, want)
	}
}
