package droid_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

func TestAllowsACallAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	var got string
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		input := `{"command":"x","n":1.50}`
		cli.Say(usesFrame("a", "Execute", input), asksFrame(`"r"`, useBlock("a", "Execute", input)))
		got = chosen(cli.Hear())
		cli.Say(returnsFrame("a", "y\n\n\n[Process exited with code 0]", false), endFrame("completed"))
		return cli.Drain()
	})
	if want := `["r",{"selectedOption":"proceed_once"},null]`; got != want || o.End != agents.EndClean {
		t.Errorf("answer = %s, want %s; %+v", got, want, o)
	}
	if q := h.Asked[0]; string(q.Input) != `{"command":"x","n":1.50}` || q.Command != "x" || q.ToolID != "a" || q.ID != "r" || q.Action != agents.ActionCommand {
		t.Errorf("asked %+v with %s", q, q.Input)
	}
}

func TestNeedsEveryCallOfARequestAllowed(t *testing.T) {
	t.Parallel()
	for name, denied := range map[string]string{"all": "", "not the first": "a", "not the last": "c"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{Decide: func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
				return agents.Decision{Allow: r.ToolID != denied, Reason: "not " + r.ToolID}
			}}
			var got, told string
			o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				begin(cli)
				var list []string
				for _, id := range []string{"a", "b", "c"} {
					cli.Say(usesFrame(id, "Create", `{"file_path":"/f"}`))
					list = append(list, useBlock(id, "Create", `{"file_path":"/f"}`))
				}
				cli.Say(asksFrame(`"r"`, list...))
				got = chosen(cli.Hear())
				for _, id := range []string{"a", "b", "c"} {
					cli.Say(returnsFrame(id, "as it is", denied != ""))
				}
				cli.Say(endFrame("completed"))
				if denied != "" {
					told = fmt.Sprint(cli.Hear()["params"])
					cli.Say(saysFrame(`{"type":"text","text":"I see"}`), endFrame("completed"))
				}
				return cli.Drain()
			})
			option, status := "proceed_once", agents.StatusOK
			if denied != "" {
				option, status = "cancel", agents.StatusDenied
			}
			if !strings.Contains(got, option) || o.End != agents.EndClean || denied != "" && !strings.Contains(told, "not "+denied) {
				t.Errorf("answer = %s, told %q, want %s; %+v", got, told, option, o)
			}
			for _, r := range agentstest.Of[agents.ToolResult](h) {
				if r.Status != status {
					t.Errorf("result = %+v, want %s", r, status)
				}
			}
		})
	}
}

func TestDeniesWhatItCannotAskFor(t *testing.T) {
	t.Parallel()
	call := useBlock("a", "Execute", `{}`)
	for name, frame := range map[string]string{
		"no calls":            `{"type":"request","id":"r","method":"droid.request_permission","params":{"toolUses":[],` + optionList + `}}`,
		"no parameters":       `{"type":"request","id":"r","method":"droid.request_permission"}`,
		"odd parameters":      `{"type":"request","id":"r","method":"droid.request_permission","params":[7]}`,
		"a call without id":   asksFrame(`"r"`, useBlock("", "Execute", `{}`)),
		"an odd call":         asksFrame(`"r"`, `7`),
		"nothing to allow":    `{"type":"request","id":"r","method":"droid.request_permission","params":{"toolUses":[{"toolUse":` + call + `}],"options":[{"value":"cancel"}]}}`,
		"more than one reads": asksFrame(`"r"`, slices.Repeat([]string{call}, 33)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{}
			var got string
			playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
				begin(cli)
				cli.Say(frame)
				got = chosen(cli.Hear())
				cli.Say(endFrame("completed"))
				return cli.Drain()
			})
			if got != `["r",{"selectedOption":"cancel"},null]` || len(h.Asked) > 0 {
				t.Errorf("answer = %s, asked %+v", got, h.Asked)
			}
		})
	}
}

func TestRefusesRequestsItDoesNotKnow(t *testing.T) {
	t.Parallel()
	var got []string
	o := playTurn(t, &agentstest.Recorder{}, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		// The ones without a usable id cannot be answered.
		cli.Say(`{"type":"request","id":7,"method":"droid.ask_user"}`, `{"type":"request","method":"droid.request_permission"}`,
			`{"type":"request","id":"n","method":"droid.brand_new"}`)
		got = append(got, chosen(cli.Hear()))
		cli.Say(`{"type":"request","id":"q","method":"droid.ask_user","params":{"questions":[]}}`)
		got = append(got, chosen(cli.Hear()))
		cli.Say(endFrame("completed"))
		return cli.Drain()
	})
	want := []string{`["n",null,{"code":-32601,"message":"unsupported request"}]`, `["q",{"answers":[],"cancelled":true},null]`}
	if !slices.Equal(got, want) || o.Unknown != 4 {
		t.Errorf("answers = %s with %d unknown, want %s", got, o.Unknown, want)
	}
}

func TestAnswersADoubledRequestOnce(t *testing.T) {
	t.Parallel()
	enough := make(chan struct{})
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		<-enough
		return agents.Decision{Allow: true}
	}}
	var got []string
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(asksFrame(`"r"`, useBlock("a", "Execute", `{"command":"good"}`)), asksFrame(`"r"`, useBlock("b", "Execute", `{"command":"bad"}`)),
			`{"type":"request","id":"n","method":"droid.brand_new"}`)
		got = append(got, chosen(cli.Hear()))
		close(enough)
		got = append(got, chosen(cli.Hear()))
		cli.Say(endFrame("completed"))
		return cli.Drain()
	})
	if len(h.Asked) != 1 || h.Asked[0].Command != "good" || o.Unknown != 2 || !strings.Contains(got[1], "proceed_once") {
		t.Errorf("asked %+v, answered %q, %d unknown", h.Asked, got, o.Unknown)
	}
}

func TestGivesThePersonsAnswersByQuestion(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Allow: true, Answers: map[string][]string{"1": {"red", "blue"}, "2": {"my own"}}}
	}}
	var got string
	playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(`{"type":"request","id":"q","method":"droid.ask_user","params":{"toolCallId":"a","questions":[{"index":1,"topic":"t","question":"Which?","options":["red","blue"],"multiSelect":true},{"index":2,"question":"And?"}]}}`)
		got = chosen(cli.Hear())
		cli.Say(endFrame("completed"))
		return cli.Drain()
	})
	want := `["q",{"answers":[{"answer":"red, blue","index":1,"question":"Which?"},{"answer":"my own","index":2,"question":"And?"}],"cancelled":false},null]`
	if got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
	if q := h.Asked[0].Questions; len(q) != 2 || !q[0].Multiple || q[0].Options[1].Label != "blue" || len(q[1].Options) != 0 {
		t.Errorf("questions = %+v", q)
	}
}

func TestAsksLateForAnUnaskedEdit(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: "not that"}
	}}
	var heard string
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(usesFrame("a", "Edit", `{"file_path":"/f"}`),
			noteFrame(`{"type":"tool_execution_phase_changed","toolUseId":"a","toolName":"Edit","phase":"executing"}`))
		heard = fmt.Sprint(cli.Hear()["method"])
		cli.Say(returnsFrame("a", "cancelled", true), endFrame("cancelled"))
		return cli.Drain()
	})
	if heard != "droid.interrupt_session" || o.End != agents.EndFailed || !strings.Contains(o.Message, "not that") {
		t.Errorf("heard %q, outcome = %+v", heard, o)
	}
}

func TestStopsTellingTheModelOfDenials(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: "never"}
	}}
	prompts := 0
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		for i := 0; ; i++ {
			id := fmt.Sprint(i)
			cli.Say(usesFrame(id, "Execute", `{"command":"x"}`), asksFrame(`"`+id+`"`, useBlock(id, "Execute", `{"command":"x"}`)))
			cli.Hear()
			cli.Say(returnsFrame(id, "cancelled", true), endFrame("completed"))
			if cli.Hear() == nil {
				return 0
			}
			prompts++
		}
	})
	if o.End != agents.EndClean || prompts != 8 {
		t.Errorf("told %d times, want 8; %+v", prompts, o)
	}
}
