package codex_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

func TestShowsExactlyWhatIsApproved(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	const params = `{"kind":"command","threadId":"T","itemId":"a","command":"/usr/bin/bash -lc 'echo <b> && ls'","n":1.50}`
	var got []string
	playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(commandFrame("started", "a", "echo <b> && ls", ""), askFrame("0", "commandExecution", params))
		got = append(got, decided(cli.Hear()))
		cli.Say(commandFrame("completed", "a", "echo <b> && ls", `,"status":"completed","exitCode":0`),
			itemFrame("started", `{"type":"fileChange","id":"e","status":"inProgress","changes":[{"path":"/workspace/x","kind":{"type":"update","move_path":"/workspace/y"},"diff":"<d>"}]}`),
			askFrame(`"s"`, "fileChange", `{"threadId":"T","itemId":"e"}`))
		got = append(got, decided(cli.Hear()))
		cli.Say(itemFrame("completed", `{"type":"fileChange","id":"e","status":"completed","changes":[]}`), doneFrame)
		return cli.Drain()
	})
	if want := []string{`[0,{"decision":"accept"},null]`, `["s",{"decision":"accept"},null]`}; !slices.Equal(got, want) {
		t.Errorf("answers = %q, want %q", got, want)
	}
	if q := h.Asked[0]; string(q.Input) != params || q.Command != "echo <b> && ls" || q.ToolID != "a" {
		t.Errorf("asked %+v with input %s", q, q.Input)
	}
	if q := h.Asked[1]; !strings.Contains(string(q.Input), `"diff":"\u003cd\u003e"`) && !strings.Contains(string(q.Input), `"diff":"<d>"`) || !slices.Equal(q.Paths, []string{"/workspace/x", "/workspace/y"}) {
		t.Errorf("asked %+v with input %s", q, q.Input)
	}
}

func TestRefusesWhatItCannotShow(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]string{
		"an edit nobody saw":        askFrame("0", "fileChange", `{"threadId":"T","itemId":"unseen"}`),
		"an edit without a call":    askFrame("0", "fileChange", `[]`),
		"more permissions":          askFrame("0", "permissions", `{"itemId":"a","permissions":{}}`),
		"a method of the past":      `{"id":0,"method":"execCommandApproval","params":{"command":["ls"]}}`,
		"an MCP server's own words": `{"id":0,"method":"mcpServer/elicitation/request","params":{"serverName":"s","mode":"url","url":"http://x"}}`,
		"an MCP tool without name":  `{"id":0,"method":"mcpServer/elicitation/request","params":{"serverName":"s","_meta":{"codex_approval_kind":"mcp_tool_call"}}}`,
		"a tool of ours":            `{"id":0,"method":"item/tool/call","params":{}}`,
		"too deep":                  `{"id":0,"method":"item/commandExecution/requestApproval","params":` + strings.Repeat("[", 150) + strings.Repeat("]", 150) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{}
			var got map[string]any
			o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				begin(cli)
				cli.Say(ask)
				got = cli.Hear()
				cli.Say(doneFrame)
				return cli.Drain()
			})
			switch {
			case name == "too deep":
				// What cannot be read is shown as it came, and names no command.
				if len(h.Asked) != 1 || h.Asked[0].Command != "" {
					t.Errorf("asked %+v", h.Asked)
				}
			case got["error"] == nil || len(h.Asked) > 0 || o.Unknown != 1:
				t.Errorf("answer = %v, asked %+v, %d unknown; want a refusal", got, h.Asked, o.Unknown)
			}
		})
	}
}

func TestDoesNotAnswerIDsItCannotRepeat(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`{}`, `[1]`, `true`, `-1`, `1.5`, `1e99`, `"` + strings.Repeat("x", 300) + `"`} {
		t.Run(id[:min(len(id), 8)], func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{}
			var next map[string]any
			o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				begin(cli)
				cli.Say(askFrame(id, "commandExecution", `{"itemId":"a","command":"ls"}`), doneFrame)
				next = cli.Hear()
				return cli.Drain()
			})
			if len(h.Asked) > 0 || o.Unknown != 1 || next["method"] != "thread/backgroundTerminals/clean" {
				t.Errorf("asked %+v, %d unknown, then sent %v", h.Asked, o.Unknown, next)
			}
		})
	}
}

func TestRefusesADoubledRequest(t *testing.T) {
	t.Parallel()
	enough := make(chan struct{})
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		<-enough
		return agents.Decision{Allow: true}
	}}
	var first, second string
	playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(askFrame("7", "commandExecution", `{"itemId":"a","command":"good"}`), askFrame("7", "commandExecution", `{"itemId":"b","command":"bad"}`))
		first = decided(cli.Hear())
		close(enough)
		second = decided(cli.Hear())
		cli.Say(doneFrame)
		return cli.Drain()
	})
	if !strings.Contains(first, "a request with this id is open") || second != `[7,{"decision":"accept"},null]` || len(h.Asked) != 1 {
		t.Errorf("answers = %s, %s; asked %+v", first, second, h.Asked)
	}
}

func TestForgetsAResolvedRequest(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(ctx context.Context, r agents.ApprovalRequest) agents.Decision {
		if r.ToolID == "a" {
			<-ctx.Done()
		}
		return agents.Decision{Allow: true}
	}}
	var got string
	playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(askFrame("0", "commandExecution", `{"itemId":"a"}`), noteFrame("serverRequest/resolved", `{"threadId":"T","requestId":0}`),
			askFrame("0", "commandExecution", `{"itemId":"b"}`))
		got = decided(cli.Hear())
		cli.Say(doneFrame)
		return cli.Drain()
	})
	if got != `[0,{"decision":"accept"},null]` || len(h.Asked) != 2 {
		t.Errorf("answer = %s, asked %d times", got, len(h.Asked))
	}
}

func TestSaysWhyBeforeItRefuses(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: "no thanks"}
	}}
	var steer, refusal map[string]any
	playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(commandFrame("started", "a", "ls", ""), askFrame("0", "commandExecution", `{"threadId":"T","itemId":"a","command":"ls"}`))
		steer, refusal = cli.Hear(), cli.Hear()
		// The item may fail instead of being declined.
		cli.Say(`{"id":6,"error":{"code":-32600,"message":"no"}}`, commandFrame("completed", "a", "ls", `,"status":"failed","exitCode":null`), doneFrame)
		return cli.Drain()
	})
	if steer["method"] != "turn/steer" || !strings.Contains(decided(refusal), `"decline"`) {
		t.Errorf("sent %v, then %v", steer, refusal)
	}
	if r := agentstest.Of[agents.ToolResult](h); len(r) != 1 || r[0].Status != agents.StatusDenied || r[0].Text != "no thanks" {
		t.Errorf("results = %+v", r)
	}
}

func TestCoversNoInputWithTheCommandItIsFor(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(askFrame("0", "commandExecution", `{"kind":"writeStdin","itemId":"a","command":"/usr/bin/bash -lc 'npm test'"}`))
		cli.Hear()
		cli.Say(doneFrame)
		return cli.Drain()
	})
	if q := h.Asked[0]; q.Command != "" || q.Action != agents.ActionCommand {
		t.Errorf("asked %+v, want no command that a rule could cover", q)
	}
}
