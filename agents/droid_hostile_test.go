package agents_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
)

func TestDroidKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	strange := []string{
		`not json at all`, `9.9.10`, `[1,2]`, `null`, `7`, `"text"`, `{}`, `{"type":5}`,
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
		`{"type":"response","id":"nobody's","result":{}}`,
		`{"type":"response","id":null,"error":{"code":-32700,"message":"Invalid JSON-RPC message"}}`,
		`{"type":"notification","method":"droid.brand_new"}`,
		droidNote(`{"type":"brand_new"}`), droidNote(`7`),
		droidNote(`{"type":"error"}`),
		droidNote(`{"type":"create_message","message":{"role":"brand_new"}}`),
		droidSays(`{"type":"brand_new"}`), droidSays(`7`), droidUses("", "Read", `{}`), droidUses(strings.Repeat("x", 257), "Read", `{}`),
		droidReturns("never-called", "x", false), droidReturns("", "x", false),
		droidOpened,
	}
	h := &recorder{}
	o := playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		cli.say(strange...)
		cli.say("\xff\xfe", droidEnds("completed"))
		return cli.drain()
	})
	if o.End != agents.EndClean || o.Unknown != len(strange)+1 {
		t.Errorf("outcome = %+v, want clean with %d unknown frames", o, len(strange)+1)
	}
	for _, r := range of[json.RawMessage](h) {
		if !json.Valid(r) {
			t.Errorf("raw event is not JSON: %.60q", r)
		}
	}
}

func TestDroidGoesOnAfterAnOversizedLine(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	o := playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		cli.say(droidSays(`{"type":"text","text":"`+strings.Repeat("x", 5<<20)+`"}`), droidEnds("completed"))
		return cli.drain()
	})
	if o.End != agents.EndClean || len(of[agents.Truncated](h)) != 1 {
		t.Errorf("outcome = %+v", o)
	}
}

func TestDroidGivesEveryCallOneResult(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	o := playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		announce := droidNote(`{"type":"tool_call","toolUse":` + droidUse("b", "x___y", `{"k":1}`) + `}`)
		cli.say(
			droidUses("a", "Execute", `{"command":"one"}`), droidUses("a", "Execute", `{"command":"again"}`),
			droidReturns("a", "fine", false), droidReturns("a", "fine again", false), droidUses("a", "Execute", `{"command":"and again"}`),
			announce, droidReturns("b", "in no message", false), announce, droidUses("b", "x___y", `{}`),
			droidUses("c", "Read", `[]`),
		)
		return 0 // leaves with c open
	})
	if o.Unknown != 4 {
		t.Errorf("unknown = %d, want the repeated calls and results: %s", o.Unknown, of[json.RawMessage](h))
	}
	status := map[string]string{}
	for _, r := range of[agents.ToolResult](h) {
		status[r.ID] += r.Status
	}
	if got, want := fmt.Sprint(status), fmt.Sprint(map[string]string{"a": "ok", "b": "ok", "c": "cancelled"}); got != want {
		t.Errorf("results = %s, want %s", got, want)
	}
	if calls := of[agents.ToolCall](h); len(calls) != 3 || calls[1].Action != agents.ActionMCP || string(calls[1].Input) != `{"k":1}` {
		t.Errorf("calls = %+v", calls)
	}
}

func TestDroidSaysAMessageOnce(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		delta := func(id, text string) string {
			return droidNote(`{"type":"assistant_text_delta","messageId":"` + id + `","textDelta":"` + text + `"}`)
		}
		cli.say(delta("m", "who"), delta("m", "le"), droidSays(`{"type":"thinking","thinking":"hm"},{"type":"text","text":"whole"}`),
			delta("x", "taken back"), droidNote(`{"type":"assistant_message_retracted","messageId":"x"}`),
			delta("y", "lost"), droidNote(`{"type":"llm_retry","attempt":1,"reason":"network"}`),
			delta("z", "cut "), delta("z", "short"))
		return 0
	})
	if got := strings.Join(h.texts(agents.KindAssistantMessage), "|"); got != "whole|cut short" {
		t.Errorf("messages = %q", got)
	}
	if got := h.texts(agents.KindThinking); len(got) != 1 || got[0] != "hm" {
		t.Errorf("thinking = %q", got)
	}
}

func TestDroidTellsACommandsOutputOnce(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		progress := func(output string) string {
			b, err := json.Marshal(map[string]any{"type": "tool_progress_update", "toolUseId": "a", "update": map[string]string{"fullOutput": output}})
			if err != nil {
				return err.Error()
			}
			return droidNote(string(b))
		}
		cli.say(droidUses("a", "Execute", `{"command":"x"}`), progress("1\n"), progress("1\n"), progress("other"), progress("1\n2\n"),
			droidReturns("a", "1\n2\n[Process exited with code 0]\n3\n\n[Process exited with code 0]", false), droidEnds("completed"))
		return cli.drain()
	})
	var printed []string
	for _, o := range of[agents.CommandOutput](h) {
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
		{"1.2.3", droidOpened, droidUses("a", "Execute", `{"command":"x"}`), droidAsks(`"r"`, droidUse("a", "Execute", `{}`)), droidReturns("a", "Error: Command failed (exit code: 3)\nx\n\n[Process exited with code 3]", true), droidEnds("completed")},
		{droidOpened, droidNote(`{"type":"tool_call","toolUse":{"id":"b","name":"Edit"}}`), droidNote(`{"type":"tool_execution_phase_changed","toolUseId":"b","phase":"executing"}`), droidEnds("completed")},
		{droidOpened, droidNote(`{"type":"llm_retry","attempt":-1,"reason":"rate_limited"}`), droidNote(`{"type":"error","message":{}}`), droidEnds("model_rate_limited")},
		{droidOpened, `{"type":"request","id":"q","method":"droid.ask_user","params":{"questions":[{"index":1,"question":"?"}]}}`, droidNote(`{"type":"child_session_available","childSessionId":"k"}`), droidEnds("completed")},
		{`{"type":"response","id":"open","error":{}}`, "\xff\x00", "{", droidReturns("z", "", true)},
	} {
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, output string) {
		h := &recorder{}
		o := playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
			cli.say(output)
			return 0
		})
		h.holds(t, o, output, "completed")
	})
}
