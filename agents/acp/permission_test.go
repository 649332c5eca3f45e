package acp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

// permit plays one permission request and returns how it was answered.
func permit(t *testing.T, h *agentstest.Recorder, ask string) (answer string, o agents.Outcome) {
	t.Helper()
	o = playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		cli.Say(ask)
		answer = chosenOption(cli.Hear())
		cli.Say(textFrame("so be it"))
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	return answer, o
}

func TestChoosesOptionsByTheirKind(t *testing.T) {
	t.Parallel()
	const always = `[{"optionId":"allow_once","name":"Allow once","kind":"allow_always"},{"optionId":"n","kind":"reject_once"}]`
	for name, c := range map[string]struct {
		call, options string
		deny          bool
		want          string
		asked         bool
	}{
		"allowed":           {options: optionList, want: "x", asked: true},
		"denied":            {options: optionList, deny: true, want: "y", asked: true},
		"no way to reject":  {options: `[{"optionId":"x","kind":"allow_once"}]`, deny: true, want: "cancelled", asked: true},
		"only for ever":     {options: always, want: "cancelled"},
		"no options":        {options: `[]`, want: "cancelled"},
		"options are null":  {options: `null`, want: "cancelled"},
		"options are text":  {options: `"allow_once"`, want: "cancelled"},
		"one id, two kinds": {options: `[{"optionId":"x","kind":"allow_once"},{"optionId":"x","kind":"allow_always"}]`, want: "cancelled"},
		"empty id":          {options: `[{"optionId":"","kind":"allow_once"}]`, want: "cancelled"},
		"too many":          {options: "[" + strings.Repeat(`{"optionId":"q","kind":"other"},`, 100) + optionList[1:], want: "cancelled"},
		"no call":           {call: `null`, options: optionList, want: "cancelled"},
		"call without id":   {call: `{"title":"x"}`, options: optionList, want: "cancelled"},
		"call is a list":    {call: `[]`, options: optionList, want: "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
				return agents.Decision{Allow: !c.deny, Reason: "no"}
			}}
			if c.call == "" {
				c.call = editCall
			}
			got, o := permit(t, h, askFrame("0", c.call, c.options))
			if got != c.want || o.End != agents.EndClean || len(h.Asked) > 0 != c.asked {
				t.Errorf("answered %q, want %q; asked %d; outcome %+v", got, c.want, len(h.Asked), o)
			}
			if n, m := len(agentstest.Of[agents.ToolCall](h)), len(agentstest.Of[agents.ToolResult](h)); n != m {
				t.Errorf("%d calls have %d results", n, m)
			}
		})
	}
}

func TestAsksOnlyForItsOwnSession(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	ask := strings.Replace(askFrame("0", editCall, optionList), `"s-1"`, `"s-2"`, 1)
	if got, o := permit(t, h, ask); got != "cancelled" || len(h.Asked) != 0 || o.Unknown != 1 {
		t.Errorf("answered %q, asked %d, unknown %d", got, len(h.Asked), o.Unknown)
	}
}

func TestShowsTheExactInputAndWhatItTouches(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	permit(t, h, askFrame(`"id"`, `{"toolCallId":"c1","title":"Run it","kind":"execute","rawInput":{"command":"rm  -rf x","n":1.50},"locations":[{"path":"/w/x"}],"content":[{"type":"diff","path":"/w/y","newText":""}]}`, optionList))
	if len(h.Asked) != 1 {
		t.Fatalf("asked %d times", len(h.Asked))
	}
	r := h.Asked[0]
	if r.ID != "id" || r.ToolID != "c1" || r.Action != agents.ActionCommand || r.Command != "rm  -rf x" || string(r.Input) != `{"command":"rm  -rf x","n":1.50}` || strings.Join(r.Paths, " ") != "/w/x /w/y" {
		t.Errorf("asked %+v with %s", r, r.Input)
	}
}

func TestDoubledRequestsAreBothRefused(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	h := &agentstest.Recorder{Decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
		close(asked)
		<-ctx.Done() // the host hears that nobody waits any more
		return agents.Decision{Allow: true}
	}}
	var answers []string
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		cli.Say(askFrame("0", editCall, optionList))
		<-asked
		cli.Say(askFrame("0", editCall, optionList))
		answers = append(answers, chosenOption(cli.Hear()), chosenOption(cli.Hear()))
		cli.Say(textFrame("oh"))
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	if strings.Join(answers, " ") != "cancelled cancelled" || o.Unknown != 1 || o.End != agents.EndClean {
		t.Errorf("answered %q, outcome %+v", answers, o)
	}
	if r := agentstest.Of[agents.ToolResult](h); len(r) != 1 {
		t.Errorf("results = %+v, want one", r)
	}
}

func TestBoundsOpenRequests(t *testing.T) {
	t.Parallel()
	const n = 40
	h := &agentstest.Recorder{Decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
		<-ctx.Done()
		return agents.Decision{}
	}}
	refused := 0
	playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		for i := range n {
			id := fmt.Sprintf("c%d", i)
			cli.Say(askFrame(`"`+id+`"`, `{"toolCallId":"`+id+`","kind":"edit"}`, optionList))
		}
		for range n - 32 {
			if chosenOption(cli.Hear()) == "cancelled" {
				refused++
			}
		}
		reply(cli, prompt, endResult)
		return cli.Drain()
	})
	if refused != n-32 {
		t.Errorf("%d requests were refused, want %d", refused, n-32)
	}
	if calls, results := len(agentstest.Of[agents.ToolCall](h)), len(agentstest.Of[agents.ToolResult](h)); calls != n || results != n {
		t.Errorf("%d calls, %d results", calls, results)
	}
}

func TestTellsTheModelWhyItWasDeniedWhereTheTurnEndsWithThat(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: "edits are not wanted here"}
	}}
	var again map[string]any
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		prompt := begin(cli)
		cli.Say(textFrame("I try."), askFrame("0", editCall, optionList))
		cli.Hear()
		cli.Say(doneFrame("c1", "failed"))
		reply(cli, prompt, endResult)
		again = cli.Hear()
		cli.Say(textFrame("I could not."))
		reply(cli, again, endResult)
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.Claim != "I could not." || o.Usage.Turns != 2 || o.Unknown != 0 {
		t.Errorf("outcome = %+v", o)
	}
	if params, _ := again["params"].(map[string]any); again["method"] != "session/prompt" || !strings.Contains(asText(params["prompt"]), "edits are not wanted here") {
		t.Errorf("the model was told %v", again)
	}
	if r := agentstest.Of[agents.ToolResult](h); len(r) != 1 || r[0].Status != agents.StatusDenied || r[0].Text != "edits are not wanted here" {
		t.Errorf("results = %+v", r)
	}
}

func TestGivesUpOnAModelThatGoesOnAsking(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision { return agents.Decision{} }}
	prompts := 0
	o := playTurn(t, h, agents.Turn{}, func(cli *agentstest.ScriptedCLI) int {
		for prompt := begin(cli); prompt != nil; prompt = cli.Hear() {
			id := string(rune('A' + prompts))
			prompts++
			cli.Say(askFrame("0", `{"toolCallId":"`+id+`","kind":"edit"}`, optionList))
			cli.Hear()
			reply(cli, prompt, endResult)
		}
		return 0
	})
	if o.End != agents.EndFailed || o.Code != "agent_failed" || prompts != 9 {
		t.Errorf("outcome = %+v after %d prompts", o, prompts)
	}
}
