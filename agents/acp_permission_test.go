package agents_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sandboxrun/agents"
)

// permit plays one permission request and returns how it was answered.
func permit(t *testing.T, h *recorder, ask string) (answer string, o agents.Outcome) {
	t.Helper()
	o = playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		prompt := cli.openACP()
		cli.say(ask)
		answer = acpChosen(cli.hear())
		cli.say(acpText("so be it"))
		cli.reply(prompt, acpEnd)
		return cli.drain()
	})
	return answer, o
}

func TestACPChoosesOptionsByTheirKind(t *testing.T) {
	t.Parallel()
	const always = `[{"optionId":"allow_once","name":"Allow once","kind":"allow_always"},{"optionId":"n","kind":"reject_once"}]`
	for name, c := range map[string]struct {
		call, options string
		deny          bool
		want          string
		asked         bool
	}{
		"allowed":           {options: acpOptions, want: "x", asked: true},
		"denied":            {options: acpOptions, deny: true, want: "y", asked: true},
		"no way to reject":  {options: `[{"optionId":"x","kind":"allow_once"}]`, deny: true, want: "cancelled", asked: true},
		"only for ever":     {options: always, want: "cancelled"},
		"no options":        {options: `[]`, want: "cancelled"},
		"options are null":  {options: `null`, want: "cancelled"},
		"options are text":  {options: `"allow_once"`, want: "cancelled"},
		"one id, two kinds": {options: `[{"optionId":"x","kind":"allow_once"},{"optionId":"x","kind":"allow_always"}]`, want: "cancelled"},
		"empty id":          {options: `[{"optionId":"","kind":"allow_once"}]`, want: "cancelled"},
		"too many":          {options: "[" + strings.Repeat(`{"optionId":"q","kind":"other"},`, 100) + acpOptions[1:], want: "cancelled"},
		"no call":           {call: `null`, options: acpOptions, want: "cancelled"},
		"call without id":   {call: `{"title":"x"}`, options: acpOptions, want: "cancelled"},
		"call is a list":    {call: `[]`, options: acpOptions, want: "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &recorder{decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
				return agents.Decision{Allow: !c.deny, Reason: "no"}
			}}
			if c.call == "" {
				c.call = acpEditCall
			}
			got, o := permit(t, h, acpAsk("0", c.call, c.options))
			if got != c.want || o.End != agents.EndClean || len(h.asked) > 0 != c.asked {
				t.Errorf("answered %q, want %q; asked %d; outcome %+v", got, c.want, len(h.asked), o)
			}
			if n, m := len(of[agents.ToolCall](h)), len(of[agents.ToolResult](h)); n != m {
				t.Errorf("%d calls have %d results", n, m)
			}
		})
	}
}

func TestACPAsksOnlyForItsOwnSession(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	ask := strings.Replace(acpAsk("0", acpEditCall, acpOptions), `"s-1"`, `"s-2"`, 1)
	if got, o := permit(t, h, ask); got != "cancelled" || len(h.asked) != 0 || o.Unknown != 1 {
		t.Errorf("answered %q, asked %d, unknown %d", got, len(h.asked), o.Unknown)
	}
}

func TestACPShowsTheExactInputAndWhatItTouches(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	permit(t, h, acpAsk(`"id"`, `{"toolCallId":"c1","title":"Run it","kind":"execute","rawInput":{"command":"rm  -rf x","n":1.50},"locations":[{"path":"/w/x"}],"content":[{"type":"diff","path":"/w/y","newText":""}]}`, acpOptions))
	if len(h.asked) != 1 {
		t.Fatalf("asked %d times", len(h.asked))
	}
	r := h.asked[0]
	if r.ID != "id" || r.ToolID != "c1" || r.Action != agents.ActionCommand || r.Command != "rm  -rf x" || string(r.Input) != `{"command":"rm  -rf x","n":1.50}` || strings.Join(r.Paths, " ") != "/w/x /w/y" {
		t.Errorf("asked %+v with %s", r, r.Input)
	}
}

func TestACPDoubledRequestsAreBothRefused(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	h := &recorder{decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
		close(asked)
		<-ctx.Done() // the host hears that nobody waits any more
		return agents.Decision{Allow: true}
	}}
	var answers []string
	o := playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		prompt := cli.openACP()
		cli.say(acpAsk("0", acpEditCall, acpOptions))
		<-asked
		cli.say(acpAsk("0", acpEditCall, acpOptions))
		answers = append(answers, acpChosen(cli.hear()), acpChosen(cli.hear()))
		cli.say(acpText("oh"))
		cli.reply(prompt, acpEnd)
		return cli.drain()
	})
	if strings.Join(answers, " ") != "cancelled cancelled" || o.Unknown != 1 || o.End != agents.EndClean {
		t.Errorf("answered %q, outcome %+v", answers, o)
	}
	if r := of[agents.ToolResult](h); len(r) != 1 {
		t.Errorf("results = %+v, want one", r)
	}
}

func TestACPBoundsOpenRequests(t *testing.T) {
	t.Parallel()
	const n = 40
	h := &recorder{decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
		<-ctx.Done()
		return agents.Decision{}
	}}
	refused := 0
	playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		prompt := cli.openACP()
		for i := range n {
			id := fmt.Sprintf("c%d", i)
			cli.say(acpAsk(`"`+id+`"`, `{"toolCallId":"`+id+`","kind":"edit"}`, acpOptions))
		}
		for range n - 32 {
			if acpChosen(cli.hear()) == "cancelled" {
				refused++
			}
		}
		cli.reply(prompt, acpEnd)
		return cli.drain()
	})
	if refused != n-32 {
		t.Errorf("%d requests were refused, want %d", refused, n-32)
	}
	if calls, results := len(of[agents.ToolCall](h)), len(of[agents.ToolResult](h)); calls != n || results != n {
		t.Errorf("%d calls, %d results", calls, results)
	}
}

func TestACPTellsTheModelWhyItWasDeniedWhereTheTurnEndsWithThat(t *testing.T) {
	t.Parallel()
	h := &recorder{decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: "edits are not wanted here"}
	}}
	var again map[string]any
	o := playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		prompt := cli.openACP()
		cli.say(acpText("I try."), acpAsk("0", acpEditCall, acpOptions))
		cli.hear()
		cli.say(acpDone("c1", "failed"))
		cli.reply(prompt, acpEnd)
		again = cli.hear()
		cli.say(acpText("I could not."))
		cli.reply(again, acpEnd)
		return cli.drain()
	})
	if o.End != agents.EndClean || o.Claim != "I could not." || o.Usage.Turns != 2 || o.Unknown != 0 {
		t.Errorf("outcome = %+v", o)
	}
	if params, _ := again["params"].(map[string]any); again["method"] != "session/prompt" || !strings.Contains(asText(params["prompt"]), "edits are not wanted here") {
		t.Errorf("the model was told %v", again)
	}
	if r := of[agents.ToolResult](h); len(r) != 1 || r[0].Status != agents.StatusDenied || r[0].Text != "edits are not wanted here" {
		t.Errorf("results = %+v", r)
	}
}

func TestACPGivesUpOnAModelThatGoesOnAsking(t *testing.T) {
	t.Parallel()
	h := &recorder{decide: func(context.Context, agents.ApprovalRequest) agents.Decision { return agents.Decision{} }}
	prompts := 0
	o := playACP(t, h, agents.Turn{}, func(cli *scriptCLI) int {
		for prompt := cli.openACP(); prompt != nil; prompt = cli.hear() {
			id := string(rune('A' + prompts))
			prompts++
			cli.say(acpAsk("0", `{"toolCallId":"`+id+`","kind":"edit"}`, acpOptions))
			cli.hear()
			cli.reply(prompt, acpEnd)
		}
		return 0
	})
	if o.End != agents.EndFailed || o.Code != "agent_failed" || prompts != 9 {
		t.Errorf("outcome = %+v after %d prompts", o, prompts)
	}
}
