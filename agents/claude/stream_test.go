package claude_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

func TestGoesOnAfterAnOversizedLine(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	long := `{"type":"assistant","message":"` + strings.Repeat("x", 5<<20) + `"}`
	o := mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(long, frameResult("done"))
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.Claim != "done" {
		t.Errorf("outcome = %+v, want clean", o)
	}
	cut := agentstest.Of[agents.Truncated](h)
	if len(cut) != 1 || cut[0].Bytes != int64(len(long)+1) {
		t.Errorf("truncated = %+v, want one of %d bytes", cut, len(long)+1)
	}
}

func TestKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	strange := []string{
		`not json at all`,
		`{"type":"assistant","message":{"content":[}`,
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
		`[1,2]`, `null`, `7`, `"text"`, `{}`,
		`{"type":5}`,
		`{"type":"brand_new","payload":{"a":1e999}}`,
		`{"type":"system","subtype":"brand_new"}`,
		`{"type":"assistant","message":{"content":[{"type":"brand_new_block"}]}}`,
		`{"type":"result","is_error":false}`,
		frameToolResult("never-called", "x"),
		`{"type":"control_request","request_id":null,"request":{"subtype":"can_use_tool"}}`,
		`{"type":"control_request","request_id":"h","request":{"subtype":"hook_callback"}}`,
	}
	h := &agentstest.Recorder{}
	o := mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(strange...)
		cli.Say(frameResult("done"))
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.Unknown != len(strange) {
		t.Errorf("outcome = %+v, want clean with %d unknown frames", o, len(strange))
	}
	raws := agentstest.Of[json.RawMessage](h)
	if len(raws) != len(strange) {
		t.Fatalf("%d raw events, want %d", len(raws), len(strange))
	}
	for i, r := range raws {
		if !json.Valid(r) {
			t.Errorf("raw event of %.60q is not JSON: %.60q", strange[i], r)
		}
	}
}

func TestRepairsInvalidUTF8(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\xfeb\"}]}}", "\xff\xfe", frameResult("done"))
		return cli.Drain()
	})
	if got := h.Texts(agents.KindAssistantMessage); len(got) != 1 || got[0] != "a\uFFFDb" {
		t.Errorf("text = %q", got)
	}
	if got := agentstest.Of[json.RawMessage](h); len(got) != 1 || string(got[0]) != "\"\uFFFD\"" {
		t.Errorf("raw = %q", got)
	}
}

func TestTakesARepeatedInitOnce(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(frameInit, frameInit, frameResult("done"))
		return cli.Drain()
	})
	if got := h.Texts(agents.KindSystemMessage); len(got) != 1 || got[0] != "Claude Code 9.9.9, model m-1" {
		t.Errorf("system messages = %q, want one", got)
	}
	if o.SessionID != "s-1" || o.Model != "m-1" || o.Version != "9.9.9" {
		t.Errorf("outcome = %+v", o)
	}
}

func TestGivesEveryCallOneResult(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(
			frameTool("a", "Bash", `{"command":"one"}`),
			frameTool("a", "Bash", `{"command":"the same id again"}`),
			frameTool("b", "mcp__x__y", `{}`),
			frameToolResult("a", "fine"),
			frameToolResult("a", "fine again"),
		)
		return 0 // leaves with b open
	})
	if o.Unknown != 2 {
		t.Errorf("unknown = %d, want the second call and the second result", o.Unknown)
	}
	calls := agentstest.Of[agents.ToolCall](h)
	if len(calls) != 2 || calls[0].Action != agents.ActionCommand || calls[1].Action != agents.ActionMCP {
		t.Errorf("calls = %+v", calls)
	}
	results := h.Results(t)
	if results["Bash one"].Text != "fine" || results["mcp__x__y "].Status != agents.StatusCancelled {
		t.Errorf("results = %+v", results)
	}
}

func TestNamesTheSubagentOfAMessage(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(`{"type":"assistant","parent_tool_use_id":"task-1","message":{"content":[{"type":"text","text":"sub"}]}}`, frameResult("done"))
		return cli.Drain()
	})
	for _, m := range agentstest.Of[agents.Message](h) {
		if m.Text == "sub" && m.Parent != "task-1" {
			t.Errorf("message = %+v, want its parent", m)
		}
	}
}
