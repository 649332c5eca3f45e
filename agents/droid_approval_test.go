package agents_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents"
)

func TestDroidAllowsACallAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	var got string
	o := playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		input := `{"command":"x","n":1.50}`
		cli.say(droidUses("a", "Execute", input), droidAsks(`"r"`, droidUse("a", "Execute", input)))
		got = chosen(cli.hear())
		cli.say(droidReturns("a", "y\n\n\n[Process exited with code 0]", false), droidEnds("completed"))
		return cli.drain()
	})
	if want := `["r",{"selectedOption":"proceed_once"},null]`; got != want || o.End != agents.EndClean {
		t.Errorf("answer = %s, want %s; %+v", got, want, o)
	}
	if q := h.asked[0]; string(q.Input) != `{"command":"x","n":1.50}` || q.Command != "x" || q.ToolID != "a" || q.ID != "r" || q.Action != agents.ActionCommand {
		t.Errorf("asked %+v with %s", q, q.Input)
	}
}

func TestDroidNeedsEveryCallOfARequestAllowed(t *testing.T) {
	t.Parallel()
	for name, denied := range map[string]string{"all": "", "not the first": "a", "not the last": "c"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &recorder{decide: func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
				return agents.Decision{Allow: r.ToolID != denied, Reason: "not " + r.ToolID}
			}}
			var got, told string
			o := playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
				cli.beginDroid()
				var list []string
				for _, id := range []string{"a", "b", "c"} {
					cli.say(droidUses(id, "Create", `{"file_path":"/f"}`))
					list = append(list, droidUse(id, "Create", `{"file_path":"/f"}`))
				}
				cli.say(droidAsks(`"r"`, list...))
				got = chosen(cli.hear())
				for _, id := range []string{"a", "b", "c"} {
					cli.say(droidReturns(id, "as it is", denied != ""))
				}
				cli.say(droidEnds("completed"))
				if denied != "" {
					told = fmt.Sprint(cli.hear()["params"])
					cli.say(droidSays(`{"type":"text","text":"I see"}`), droidEnds("completed"))
				}
				return cli.drain()
			})
			option, status := "proceed_once", agents.StatusOK
			if denied != "" {
				option, status = "cancel", agents.StatusDenied
			}
			if !strings.Contains(got, option) || o.End != agents.EndClean || denied != "" && !strings.Contains(told, "not "+denied) {
				t.Errorf("answer = %s, told %q, want %s; %+v", got, told, option, o)
			}
			for _, r := range of[agents.ToolResult](h) {
				if r.Status != status {
					t.Errorf("result = %+v, want %s", r, status)
				}
			}
		})
	}
}

func TestDroidDeniesWhatItCannotAskFor(t *testing.T) {
	t.Parallel()
	call := droidUse("a", "Execute", `{}`)
	for name, frame := range map[string]string{
		"no calls":            `{"type":"request","id":"r","method":"droid.request_permission","params":{"toolUses":[],` + droidOptions + `}}`,
		"no parameters":       `{"type":"request","id":"r","method":"droid.request_permission"}`,
		"odd parameters":      `{"type":"request","id":"r","method":"droid.request_permission","params":[7]}`,
		"a call without id":   droidAsks(`"r"`, droidUse("", "Execute", `{}`)),
		"an odd call":         droidAsks(`"r"`, `7`),
		"nothing to allow":    `{"type":"request","id":"r","method":"droid.request_permission","params":{"toolUses":[{"toolUse":` + call + `}],"options":[{"value":"cancel"}]}}`,
		"more than one reads": droidAsks(`"r"`, slices.Repeat([]string{call}, 33)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &recorder{}
			var got string
			playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
				cli.beginDroid()
				cli.say(frame)
				got = chosen(cli.hear())
				cli.say(droidEnds("completed"))
				return cli.drain()
			})
			if got != `["r",{"selectedOption":"cancel"},null]` || len(h.asked) > 0 {
				t.Errorf("answer = %s, asked %+v", got, h.asked)
			}
		})
	}
}

func TestDroidRefusesRequestsItDoesNotKnow(t *testing.T) {
	t.Parallel()
	var got []string
	o := playDroid(t, &recorder{}, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		// The ones without a usable id cannot be answered.
		cli.say(`{"type":"request","id":7,"method":"droid.ask_user"}`, `{"type":"request","method":"droid.request_permission"}`,
			`{"type":"request","id":"n","method":"droid.brand_new"}`)
		got = append(got, chosen(cli.hear()))
		cli.say(`{"type":"request","id":"q","method":"droid.ask_user","params":{"questions":[]}}`)
		got = append(got, chosen(cli.hear()))
		cli.say(droidEnds("completed"))
		return cli.drain()
	})
	want := []string{`["n",null,{"code":-32601,"message":"unsupported request"}]`, `["q",{"answers":[],"cancelled":true},null]`}
	if !slices.Equal(got, want) || o.Unknown != 4 {
		t.Errorf("answers = %s with %d unknown, want %s", got, o.Unknown, want)
	}
}

func TestDroidAnswersADoubledRequestOnce(t *testing.T) {
	t.Parallel()
	enough := make(chan struct{})
	h := &recorder{decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		<-enough
		return agents.Decision{Allow: true}
	}}
	var got []string
	o := playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		cli.say(droidAsks(`"r"`, droidUse("a", "Execute", `{"command":"good"}`)), droidAsks(`"r"`, droidUse("b", "Execute", `{"command":"bad"}`)),
			`{"type":"request","id":"n","method":"droid.brand_new"}`)
		got = append(got, chosen(cli.hear()))
		close(enough)
		got = append(got, chosen(cli.hear()))
		cli.say(droidEnds("completed"))
		return cli.drain()
	})
	if len(h.asked) != 1 || h.asked[0].Command != "good" || o.Unknown != 2 || !strings.Contains(got[1], "proceed_once") {
		t.Errorf("asked %+v, answered %q, %d unknown", h.asked, got, o.Unknown)
	}
}

func TestDroidGivesThePersonsAnswersByQuestion(t *testing.T) {
	t.Parallel()
	h := &recorder{decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Allow: true, Answers: map[string][]string{"1": {"red", "blue"}, "2": {"my own"}}}
	}}
	var got string
	playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		cli.say(`{"type":"request","id":"q","method":"droid.ask_user","params":{"toolCallId":"a","questions":[{"index":1,"topic":"t","question":"Which?","options":["red","blue"],"multiSelect":true},{"index":2,"question":"And?"}]}}`)
		got = chosen(cli.hear())
		cli.say(droidEnds("completed"))
		return cli.drain()
	})
	want := `["q",{"answers":[{"answer":"red, blue","index":1,"question":"Which?"},{"answer":"my own","index":2,"question":"And?"}],"cancelled":false},null]`
	if got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
	if q := h.asked[0].Questions; len(q) != 2 || !q[0].Multiple || q[0].Options[1].Label != "blue" || len(q[1].Options) != 0 {
		t.Errorf("questions = %+v", q)
	}
}

func TestDroidAsksLateForAnUnaskedEdit(t *testing.T) {
	t.Parallel()
	h := &recorder{decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: "not that"}
	}}
	var heard string
	o := playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		cli.say(droidUses("a", "Edit", `{"file_path":"/f"}`),
			droidNote(`{"type":"tool_execution_phase_changed","toolUseId":"a","toolName":"Edit","phase":"executing"}`))
		heard = fmt.Sprint(cli.hear()["method"])
		cli.say(droidReturns("a", "cancelled", true), droidEnds("cancelled"))
		return cli.drain()
	})
	if heard != "droid.interrupt_session" || o.End != agents.EndFailed || !strings.Contains(o.Message, "not that") {
		t.Errorf("heard %q, outcome = %+v", heard, o)
	}
}

func TestDroidStopsTellingTheModelOfDenials(t *testing.T) {
	t.Parallel()
	h := &recorder{decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: "never"}
	}}
	prompts := 0
	o := playDroid(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		cli.beginDroid()
		for i := 0; ; i++ {
			id := fmt.Sprint(i)
			cli.say(droidUses(id, "Execute", `{"command":"x"}`), droidAsks(`"`+id+`"`, droidUse(id, "Execute", `{"command":"x"}`)))
			cli.hear()
			cli.say(droidReturns(id, "cancelled", true), droidEnds("completed"))
			if cli.hear() == nil {
				return 0
			}
			prompts++
		}
	})
	if o.End != agents.EndClean || prompts != 8 {
		t.Errorf("told %d times, want 8; %+v", prompts, o)
	}
}
