package droid_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

func TestKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	strange := []string{
		`not json at all`, `9.9.10`, `[1,2]`, `null`, `7`, `"text"`, `{}`, `{"type":5}`,
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
		`{"type":"response","id":"nobody's","result":{}}`,
		`{"type":"response","id":null,"error":{"code":-32700,"message":"Invalid JSON-RPC message"}}`,
		`{"type":"notification","method":"droid.brand_new"}`,
		noteFrame(`{"type":"brand_new"}`), noteFrame(`7`),
		noteFrame(`{"type":"error"}`),
		noteFrame(`{"type":"create_message","message":{"role":"brand_new"}}`),
		saysFrame(`{"type":"brand_new"}`), saysFrame(`7`), usesFrame("", "Read", `{}`), usesFrame(strings.Repeat("x", 257), "Read", `{}`),
		returnsFrame("never-called", "x", false), returnsFrame("", "x", false),
		openedFrame,
	}
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(strange...)
		cli.Say("\xff\xfe", endFrame("completed"))
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.Unknown != len(strange)+1 {
		t.Errorf("outcome = %+v, want clean with %d unknown frames", o, len(strange)+1)
	}
	for _, r := range agentstest.Of[json.RawMessage](h) {
		if !json.Valid(r) {
			t.Errorf("raw event is not JSON: %.60q", r)
		}
	}
}

func TestGoesOnAfterAnOversizedLine(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(saysFrame(`{"type":"text","text":"`+strings.Repeat("x", 5<<20)+`"}`), endFrame("completed"))
		return cli.Drain()
	})
	if o.End != agents.EndClean || len(agentstest.Of[agents.Truncated](h)) != 1 {
		t.Errorf("outcome = %+v", o)
	}
}

func TestGivesEveryCallOneResult(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		announce := noteFrame(`{"type":"tool_call","toolUse":` + useBlock("b", "x___y", `{"k":1}`) + `}`)
		cli.Say(
			usesFrame("a", "Execute", `{"command":"one"}`), usesFrame("a", "Execute", `{"command":"again"}`),
			returnsFrame("a", "fine", false), returnsFrame("a", "fine again", false), usesFrame("a", "Execute", `{"command":"and again"}`),
			announce, returnsFrame("b", "in no message", false), announce, usesFrame("b", "x___y", `{}`),
			usesFrame("c", "Read", `[]`),
		)
		return 0 // leaves with c open
	})
	if o.Unknown != 4 {
		t.Errorf("unknown = %d, want the repeated calls and results: %s", o.Unknown, agentstest.Of[json.RawMessage](h))
	}
	status := map[string]string{}
	for _, r := range agentstest.Of[agents.ToolResult](h) {
		status[r.ID] += r.Status
	}
	if got, want := fmt.Sprint(status), fmt.Sprint(map[string]string{"a": "ok", "b": "ok", "c": "cancelled"}); got != want {
		t.Errorf("results = %s, want %s", got, want)
	}
	if calls := agentstest.Of[agents.ToolCall](h); len(calls) != 3 || calls[1].Action != agents.ActionMCP || string(calls[1].Input) != `{"k":1}` {
		t.Errorf("calls = %+v", calls)
	}
}

func TestSaysAMessageOnce(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		delta := func(id, text string) string {
			return noteFrame(`{"type":"assistant_text_delta","messageId":"` + id + `","textDelta":"` + text + `"}`)
		}
		cli.Say(delta("m", "who"), delta("m", "le"), saysFrame(`{"type":"thinking","thinking":"hm"},{"type":"text","text":"whole"}`),
			delta("x", "taken back"), noteFrame(`{"type":"assistant_message_retracted","messageId":"x"}`),
			delta("y", "lost"), noteFrame(`{"type":"llm_retry","attempt":1,"reason":"network"}`),
			delta("z", "cut "), delta("z", "short"))
		return 0
	})
	if got := strings.Join(h.Texts(agents.KindAssistantMessage), "|"); got != "whole|cut short" {
		t.Errorf("messages = %q", got)
	}
	if got := h.Texts(agents.KindThinking); len(got) != 1 || got[0] != "hm" {
		t.Errorf("thinking = %q", got)
	}
}

func TestTellsACommandsOutputOnce(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		progress := func(output string) string {
			b, err := json.Marshal(map[string]any{"type": "tool_progress_update", "toolUseId": "a", "update": map[string]string{"fullOutput": output}})
			if err != nil {
				return err.Error()
			}
			return noteFrame(string(b))
		}
		cli.Say(usesFrame("a", "Execute", `{"command":"x"}`), progress("1\n"), progress("1\n"), progress("other"), progress("1\n2\n"),
			returnsFrame("a", "1\n2\n[Process exited with code 0]\n3\n\n[Process exited with code 0]", false), endFrame("completed"))
		return cli.Drain()
	})
	var printed []string
	for _, o := range agentstest.Of[agents.CommandOutput](h) {
		printed = append(printed, o.Text)
	}
	if got := strings.Join(printed, "|"); got != "1\n|2\n|[Process exited with code 0]\n3" {
		t.Errorf("printed %q", got)
	}
}

// FuzzDroid feeds a turn whatever a process could print. It must end, and every
// call must have exactly one result.
func FuzzDroid(f *testing.F) {
	for _, lines := range [][]string{
		{"1.2.3", openedFrame, usesFrame("a", "Execute", `{"command":"x"}`), asksFrame(`"r"`, useBlock("a", "Execute", `{}`)), returnsFrame("a", "Error: Command failed (exit code: 3)\nx\n\n[Process exited with code 3]", true), endFrame("completed")},
		{openedFrame, noteFrame(`{"type":"tool_call","toolUse":{"id":"b","name":"Edit"}}`), noteFrame(`{"type":"tool_execution_phase_changed","toolUseId":"b","phase":"executing"}`), endFrame("completed")},
		{openedFrame, noteFrame(`{"type":"llm_retry","attempt":-1,"reason":"rate_limited"}`), noteFrame(`{"type":"error","message":{}}`), endFrame("model_rate_limited")},
		{openedFrame, `{"type":"request","id":"q","method":"droid.ask_user","params":{"questions":[{"index":1,"question":"?"}]}}`, noteFrame(`{"type":"child_session_available","childSessionId":"k"}`), endFrame("completed")},
		{`{"type":"response","id":"open","error":{}}`, "\xff\x00", "{", returnsFrame("z", "", true)},
	} {
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, output string) {
		h := &agentstest.Recorder{}
		o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
			cli.Say(output)
			return 0
		})
		h.Check(t, o, output, "completed")
	})
}
