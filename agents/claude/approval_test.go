package claude_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

// answered is what a response says.
func answered(m map[string]any) string {
	b, err := json.Marshal(m["response"])
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestEchoesTheRequestsIDAndInput(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`"abc"`, `0`, `17`, `"0"`, `"é\""`} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{}
			var got string
			mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
				begin(cli)
				cli.Say(frameTool("a", "Bash", `{"command":"x"}`), frameAsk(id, "a", "Bash", `{"command":"x","n":1.50}`))
				got = answered(cli.Hear())
				cli.Say(frameToolResult("a", "ok"), frameResult("done"))
				return cli.Drain()
			})
			var wantID any
			if err := json.Unmarshal([]byte(id), &wantID); err != nil {
				t.Fatal(err)
			}
			encoded, err := json.Marshal(wantID)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"request_id":` + string(encoded) + `,"response":{"behavior":"allow","updatedInput":{"command":"x","n":1.5}},"subtype":"success"}`
			if got != want {
				t.Errorf("answer = %s, want %s", got, want)
			}
			if in := string(h.Asked[0].Input); in != `{"command":"x","n":1.50}` || h.Asked[0].ToolID != "a" || h.Asked[0].Action != agents.ActionCommand {
				t.Errorf("asked = %+v with input %s", h.Asked[0], in)
			}
		})
	}
}

func TestDecisionOfAWithdrawnRequestAnswersNoOther(t *testing.T) {
	t.Parallel()
	first := make(chan struct{})
	h := &agentstest.Recorder{Decide: func(ctx context.Context, r agents.ApprovalRequest) agents.Decision {
		if r.ToolID == "a" {
			<-ctx.Done() // withdrawn
			defer close(first)
			return agents.Decision{Allow: true}
		}
		<-first
		return agents.Decision{Reason: "not this one"}
	}}
	var got string
	mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(frameTool("a", "Bash", `{"command":"good"}`), frameTool("b", "Bash", `{"command":"bad"}`),
			frameAsk(`"same"`, "a", "Bash", `{}`), `{"type":"control_cancel_request","request_id":"same"}`,
			frameAsk(`"same"`, "b", "Bash", `{}`))
		got = answered(cli.Hear())
		cli.Say(frameToolResult("a", "x"), frameToolResult("b", "x"), frameResult("done"))
		return cli.Drain()
	})
	if !strings.Contains(got, "not this one") {
		t.Errorf("answer = %s, want the second request's denial", got)
	}
}

func TestRefusesTooManyAndDoubledRequests(t *testing.T) {
	t.Parallel()
	enough := make(chan struct{})
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		<-enough
		return agents.Decision{Allow: true}
	}}
	refused := map[string]int{}
	o := mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(frameAsk(`1`, "a", "Bash", `{}`), frameAsk(`1`, "b", "Bash", `{}`))
		refused[answered(cli.Hear())]++
		for i := range 32 {
			cli.Say(frameAsk(fmt.Sprint(i+2), "a", "Bash", `{}`))
		}
		refused[answered(cli.Hear())]++
		close(enough)
		cli.Say(frameResult("done"))
		return cli.Drain()
	})
	if len(h.Asked) != 32 || o.Unknown != 2 {
		t.Errorf("asked %d times with %d unknown, want 32 and 2", len(h.Asked), o.Unknown)
	}
	for _, want := range []string{
		`{"error":"a request with this id is open","request_id":1,"subtype":"error"}`,
		`{"error":"too many open requests","request_id":33,"subtype":"error"}`,
	} {
		if refused[want] != 1 {
			t.Errorf("refusals = %v, want %s", refused, want)
		}
	}
}

func TestGivesThePersonsAnswerToItsQuestion(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Allow: true, Answers: map[string][]string{r.Questions[0].ID: {"red", "blue"}}}
	}}
	var got string
	mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		input := `{"questions":[{"question":"Which colour?","header":"c","multiSelect":true,"options":[{"label":"red","description":"warm"},{"label":"blue"}]}]}`
		cli.Say(frameTool("q", "AskUserQuestion", input), frameAsk(`"q"`, "q", "AskUserQuestion", input))
		got = answered(cli.Hear())
		cli.Say(frameToolResult("q", "x"), frameResult("done"))
		return cli.Drain()
	})
	if !strings.Contains(got, `"answers":{"Which colour?":"red, blue"}`) || !strings.Contains(got, `"multiSelect":true`) {
		t.Errorf("answer = %s, want the input with the answers", got)
	}
	q := h.Asked[0].Questions
	if len(q) != 1 || !q[0].Multiple || len(q[0].Options) != 2 || q[0].Options[0].Description != "warm" {
		t.Errorf("questions = %+v", q)
	}
}

func TestTellsTheModelThatNobodyAnswersItsQuestion(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: "nobody is here to answer"}
	}}
	var got string
	mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(frameTool("q", "AskUserQuestion", `{}`), frameAsk(`"q"`, "q", "AskUserQuestion", `{}`))
		got = answered(cli.Hear())
		cli.Say(frameToolResult("q", "x"), frameResult("done"))
		return cli.Drain()
	})
	if !strings.Contains(got, "nobody is here") || len(h.Asked[0].Questions) == 0 {
		t.Errorf("answer = %s, asked %+v; want a denial of a question", got, h.Asked)
	}
}
