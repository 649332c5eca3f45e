package e2e

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/runner/document"
)

// TestModelBudgetsEndTheRun has the limits of model requests, each with a run that reaches it.
func TestModelBudgetsEndTheRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		task   map[string]any
		limits map[string]any
		code   string
		limit  string // in the issue
		runs   int    // the last one reaches it
	}{
		{"requests of a run", map[string]any{"max_requests": 2}, nil, "request_limit", "run_requests", 1},
		{"tokens of a run, where the configuration allows fewer", map[string]any{"max_tokens": 1_000_000}, map[string]any{"tokens": 1}, "token_limit", "run_tokens", 1},
		{"requests of a day", nil, map[string]any{"requests_per_day": 5}, "request_limit", "day_requests", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			if c.limits != nil {
				rig.config["limits"] = c.limits
			}
			var res document.Result
			var o outcome
			for range c.runs {
				rig.model(mending())
				task := agentTask(repo)
				maps.Copy(task, c.task)
				if res, o = rig.execute(task); o.exit != 6 && res.Status != document.StatusSuccess {
					t.Fatalf("exit %d, %+v", o.exit, res.Issues)
				}
			}
			if o.exit != 6 || !hasCode(res, c.code) || !res.Box.Cleanup.Complete {
				t.Fatalf("exit %d, %+v", o.exit, res.Issues)
			}
			for _, i := range res.Issues {
				if i.Code == c.code && (i.Limit == nil || i.Limit.Name != c.limit || i.Limit.Measured < i.Limit.Allowed) {
					t.Errorf("the issue is about %+v", i.Limit)
				}
			}
			if n := eventKinds(t, rig, res.RunID)["limit_reached"]; n != 1 {
				t.Errorf("%d events limit_reached", n)
			}
		})
	}
}

// TestTheProviderIsAskedForThePlannedModelOnly has a task that names a model, and one that grants itself more than the
// configuration permits.
func TestTheProviderIsAskedForThePlannedModelOnly(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	srv := rig.model(mending())
	task := agentTask(repo)
	task["agent"] = map[string]any{"name": "claude", "model": "planned", "grants": []any{"web_search"}}
	text, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	if doc, exit := rig.refuse(text); exit != 2 || len(doc.Error.Details) != 1 || doc.Error.Details[0].Path != "/agent/grants/0" {
		t.Errorf("exit %d, %+v", exit, doc.Error)
	}
	task["agent"] = map[string]any{"name": "claude", "model": "planned"}
	if res, o := rig.execute(task); o.exit != 0 || hasCode(res, "model_request_refused") {
		t.Errorf("exit %d, %+v", o.exit, res.Issues)
	}
	for _, r := range srv.Requests() {
		if r.Main && r.Model != "planned" {
			t.Errorf("the provider was asked for %q", r.Model)
		}
	}
}

// TestAnAgentThatAsksAnotherModelIsTold has a real program that asks for a model of its own choice: for a helper.
func TestAnAgentThatAsksAnotherModelIsTold(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	srv := rig.model(modelserver.Scenario{Name: "helper", Steps: []modelserver.Step{
		{Tools: []modelserver.ToolUse{modelserver.Tool("Agent", map[string]any{
			"description": "look", "prompt": "Look at it.", "subagent_type": "general-purpose", "model": "opus", "run_in_background": false,
		})}},
		{Text: "I could not.", Times: -1},
	}})
	task := agentTask(repo)
	task["agent"] = map[string]any{"name": "claude", "model": "planned"}
	res, o := rig.execute(task)
	if !hasCode(res, "model_request_refused") || hasCode(res, "agent_auth") {
		t.Errorf("exit %d, %+v", o.exit, res.Issues)
	}
	for _, i := range res.Issues {
		if i.Code == "model_request_refused" && (!strings.Contains(i.Description, "any_model") || !strings.Contains(i.Description, "opus")) {
			t.Errorf("told %q", i.Description)
		}
	}
	if n := eventKinds(t, rig, res.RunID)["egress_denied"]; n == 0 {
		t.Error("no event tells of it")
	}
	for _, r := range srv.Requests() {
		if r.Main && r.Model != "planned" {
			t.Errorf("the provider was asked for %q", r.Model)
		}
	}
}
