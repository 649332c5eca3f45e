package claude_test

import (
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/modelserver"
)

func TestProviderFailures(t *testing.T) { //nolint:tparallel // newJob says so
	t.Parallel()
	for _, tc := range []struct {
		name  string
		steps []modelserver.Step
		end   agents.End
		code  string
		// asked is the number of requests of the agent's loop; 0 checks none.
		asked int
	}{
		{"refused key", []modelserver.Step{agentstest.Failing(401, "authentication_error", "invalid x-api-key", -1)}, agents.EndFailed, "agent_auth", 1},
		{"forbidden", []modelserver.Step{agentstest.Failing(403, "permission_error", "forbidden", -1)}, agents.EndFailed, "agent_auth", 1},
		{"rate limit that passes", []modelserver.Step{agentstest.Failing(429, "rate_limit_error", "slow down", 1), {Text: "done"}}, agents.EndClean, "", 2},
		{"rate limit that stays", []modelserver.Step{{Times: -1, Fault: &modelserver.Fault{Status: 429, Type: "rate_limit_error", Message: "slow down", RetryAfter: 3600}}}, agents.EndFailed, "agent_quota", 0},
		{"no credit", []modelserver.Step{agentstest.Failing(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", -1)}, agents.EndFailed, "agent_quota", 0},
		{"error that passes", []modelserver.Step{agentstest.Failing(500, "api_error", "oops", 1), {Text: "done"}}, agents.EndClean, "", 2},
		{"error that stays", []modelserver.Step{agentstest.Failing(500, "api_error", "oops", -1)}, agents.EndFailed, "agent_failed", 4},
		{"overload that stays", []modelserver.Step{agentstest.Failing(529, "overloaded_error", "busy", -1)}, agents.EndFailed, "agent_failed", 0},
		{"unknown model", []modelserver.Step{agentstest.Failing(404, "not_found_error", "model: nothing", -1)}, agents.EndFailed, "agent_failed", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := newJob(t, nil, tc.steps...)
			o := j.MustRun()
			if o.End != tc.end || o.Code != tc.code || (o.Message == "") != (tc.end == agents.EndClean) {
				t.Errorf("outcome = %+v, want %s %s", o, tc.end, tc.code)
			}
			if said := j.Host.Texts(agents.KindAssistantMessage); tc.end != agents.EndClean && len(said) > 0 {
				t.Errorf("an error was shown as words of the model: %q", said)
			}
			asked := 0
			for _, r := range j.Server.Requests() {
				if r.Main {
					asked++
				}
			}
			if tc.asked != 0 && asked != tc.asked {
				t.Errorf("the model was asked %d times, want %d", asked, tc.asked)
			}
		})
	}
}

func TestGoesOnAfterACutStream(t *testing.T) {
	j := newJob(t, nil,
		modelserver.Step{Cut: true, Text: "These are words that never arrive as a whole."},
		modelserver.Step{Cut: true, Tools: []modelserver.ToolUse{bash("touch never; echo this call never arrives as a whole")}},
		modelserver.Step{Tools: []modelserver.ToolUse{bash("touch once")}},
		modelserver.Step{Text: "done"})
	o := j.MustRun()
	if o.End != agents.EndClean || o.Claim != "done" {
		t.Errorf("outcome = %+v, want clean", o)
	}
	if j.Exists("never") || !j.Exists("once") {
		t.Error("want only the whole call to run")
	}
	if calls := agentstest.Of[agents.ToolCall](j.Host); len(calls) != 1 {
		t.Errorf("tool calls = %+v, want one", calls)
	}
}

func TestResumeOfAnUnknownSessionFails(t *testing.T) {
	j := newJob(t, nil, modelserver.Step{Text: "hello"})
	j.Turn.Resume = true
	o := j.MustRun()
	if o.End != agents.EndFailed || o.Code != "agent_failed" || !strings.Contains(o.Message, "No conversation found") {
		t.Errorf("outcome = %+v", o)
	}
}

func TestMissingFromTheImageIsACrash(t *testing.T) {
	j := newJob(t, nil)
	j.Turn.Env = []string{"PATH=/nowhere"}
	o := j.MustRun()
	if o.End != agents.EndFailed || o.Code != "agent_crashed" {
		t.Errorf("outcome = %+v, want a crash", o)
	}
}
