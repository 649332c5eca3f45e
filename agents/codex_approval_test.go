package agents_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents"
)

func TestCodexShowsExactlyWhatIsApproved(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	const params = `{"kind":"command","threadId":"T","itemId":"a","command":"/usr/bin/bash -lc 'echo <b> && ls'","n":1.50}`
	var got []string
	playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginCodex()
		cli.say(codexCommand("started", "a", "echo <b> && ls", ""), codexAskFor("0", "commandExecution", params))
		got = append(got, decided(cli.hear()))
		cli.say(codexCommand("completed", "a", "echo <b> && ls", `,"status":"completed","exitCode":0`),
			codexItemFrame("started", `{"type":"fileChange","id":"e","status":"inProgress","changes":[{"path":"/workspace/x","kind":{"type":"update","move_path":"/workspace/y"},"diff":"<d>"}]}`),
			codexAskFor(`"s"`, "fileChange", `{"threadId":"T","itemId":"e"}`))
		got = append(got, decided(cli.hear()))
		cli.say(codexItemFrame("completed", `{"type":"fileChange","id":"e","status":"completed","changes":[]}`), codexDone)
		return cli.drain()
	})
	if want := []string{`[0,{"decision":"accept"},null]`, `["s",{"decision":"accept"},null]`}; !slices.Equal(got, want) {
		t.Errorf("answers = %q, want %q", got, want)
	}
	if q := h.asked[0]; string(q.Input) != params || q.Command != "echo <b> && ls" || q.ToolID != "a" {
		t.Errorf("asked %+v with input %s", q, q.Input)
	}
	if q := h.asked[1]; !strings.Contains(string(q.Input), `"diff":"\u003cd\u003e"`) && !strings.Contains(string(q.Input), `"diff":"<d>"`) || !slices.Equal(q.Paths, []string{"/workspace/x", "/workspace/y"}) {
		t.Errorf("asked %+v with input %s", q, q.Input)
	}
}

func TestCodexRefusesWhatItCannotShow(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]string{
		"an edit nobody saw":        codexAskFor("0", "fileChange", `{"threadId":"T","itemId":"unseen"}`),
		"an edit without a call":    codexAskFor("0", "fileChange", `[]`),
		"more permissions":          codexAskFor("0", "permissions", `{"itemId":"a","permissions":{}}`),
		"a method of the past":      `{"id":0,"method":"execCommandApproval","params":{"command":["ls"]}}`,
		"an MCP server's own words": `{"id":0,"method":"mcpServer/elicitation/request","params":{"serverName":"s","mode":"url","url":"http://x"}}`,
		"an MCP tool without name":  `{"id":0,"method":"mcpServer/elicitation/request","params":{"serverName":"s","_meta":{"codex_approval_kind":"mcp_tool_call"}}}`,
		"a tool of ours":            `{"id":0,"method":"item/tool/call","params":{}}`,
		"too deep":                  `{"id":0,"method":"item/commandExecution/requestApproval","params":` + strings.Repeat("[", 150) + strings.Repeat("]", 150) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &recorder{}
			var got map[string]any
			o := playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
				cli.beginCodex()
				cli.say(ask)
				got = cli.hear()
				cli.say(codexDone)
				return cli.drain()
			})
			switch {
			case name == "too deep":
				// What cannot be read is shown as it came, and names no command.
				if len(h.asked) != 1 || h.asked[0].Command != "" {
					t.Errorf("asked %+v", h.asked)
				}
			case got["error"] == nil || len(h.asked) > 0 || o.Unknown != 1:
				t.Errorf("answer = %v, asked %+v, %d unknown; want a refusal", got, h.asked, o.Unknown)
			}
		})
	}
}

func TestCodexDoesNotAnswerIDsItCannotRepeat(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`{}`, `[1]`, `true`, `-1`, `1.5`, `1e99`, `"` + strings.Repeat("x", 300) + `"`} {
		t.Run(id[:min(len(id), 8)], func(t *testing.T) {
			t.Parallel()
			h := &recorder{}
			var next map[string]any
			o := playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
				cli.beginCodex()
				cli.say(codexAskFor(id, "commandExecution", `{"itemId":"a","command":"ls"}`), codexDone)
				next = cli.hear()
				return cli.drain()
			})
			if len(h.asked) > 0 || o.Unknown != 1 || next["method"] != "thread/backgroundTerminals/clean" {
				t.Errorf("asked %+v, %d unknown, then sent %v", h.asked, o.Unknown, next)
			}
		})
	}
}

func TestCodexRefusesADoubledRequest(t *testing.T) {
	t.Parallel()
	enough := make(chan struct{})
	h := &recorder{decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		<-enough
		return agents.Decision{Allow: true}
	}}
	var first, second string
	playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginCodex()
		cli.say(codexAskFor("7", "commandExecution", `{"itemId":"a","command":"good"}`), codexAskFor("7", "commandExecution", `{"itemId":"b","command":"bad"}`))
		first = decided(cli.hear())
		close(enough)
		second = decided(cli.hear())
		cli.say(codexDone)
		return cli.drain()
	})
	if !strings.Contains(first, "a request with this id is open") || second != `[7,{"decision":"accept"},null]` || len(h.asked) != 1 {
		t.Errorf("answers = %s, %s; asked %+v", first, second, h.asked)
	}
}

func TestCodexForgetsAResolvedRequest(t *testing.T) {
	t.Parallel()
	h := &recorder{decide: func(ctx context.Context, r agents.ApprovalRequest) agents.Decision {
		if r.ToolID == "a" {
			<-ctx.Done()
		}
		return agents.Decision{Allow: true}
	}}
	var got string
	playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginCodex()
		cli.say(codexAskFor("0", "commandExecution", `{"itemId":"a"}`), codexNote("serverRequest/resolved", `{"threadId":"T","requestId":0}`),
			codexAskFor("0", "commandExecution", `{"itemId":"b"}`))
		got = decided(cli.hear())
		cli.say(codexDone)
		return cli.drain()
	})
	if got != `[0,{"decision":"accept"},null]` || len(h.asked) != 2 {
		t.Errorf("answer = %s, asked %d times", got, len(h.asked))
	}
}

func TestCodexSaysWhyBeforeItRefuses(t *testing.T) {
	t.Parallel()
	h := &recorder{decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: "no thanks"}
	}}
	var steer, refusal map[string]any
	playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginCodex()
		cli.say(codexCommand("started", "a", "ls", ""), codexAskFor("0", "commandExecution", `{"threadId":"T","itemId":"a","command":"ls"}`))
		steer, refusal = cli.hear(), cli.hear()
		// The item may fail instead of being declined.
		cli.say(`{"id":6,"error":{"code":-32600,"message":"no"}}`, codexCommand("completed", "a", "ls", `,"status":"failed","exitCode":null`), codexDone)
		return cli.drain()
	})
	if steer["method"] != "turn/steer" || !strings.Contains(decided(refusal), `"decline"`) {
		t.Errorf("sent %v, then %v", steer, refusal)
	}
	if r := of[agents.ToolResult](h); len(r) != 1 || r[0].Status != agents.StatusDenied || r[0].Text != "no thanks" {
		t.Errorf("results = %+v", r)
	}
}

func TestCodexCoversNoInputWithTheCommandItIsFor(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	playCodex(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginCodex()
		cli.say(codexAskFor("0", "commandExecution", `{"kind":"writeStdin","itemId":"a","command":"/usr/bin/bash -lc 'npm test'"}`))
		cli.hear()
		cli.say(codexDone)
		return cli.drain()
	})
	if q := h.asked[0]; q.Command != "" || q.Action != agents.ActionCommand {
		t.Errorf("asked %+v, want no command that a rule could cover", q)
	}
}
