package runner

import (
	"errors"
	"strings"
	"testing"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/sandbox"
)

func TestARunBelowTheRequiredTierIsAnInputError(t *testing.T) {
	t.Parallel()
	engine := sandbox.Info{DefaultRun: "runc", Runtimes: []string{"runc", "runsc"}}
	for _, tc := range []struct {
		engine  sandbox.Info
		runtime string
		require sandbox.Tier
		refused bool
	}{
		{engine, "", "", false},
		{engine, "", sandbox.TierRunc, false},
		{engine, "", sandbox.TierUserns, true},
		{engine, "", sandbox.TierRunsc, true},
		{engine, "runsc", sandbox.TierRunsc, false},
		{engine, "runsc", sandbox.TierUserns, false},
		{sandbox.Info{}, "", sandbox.TierUserns, true}, // an engine that does not say
		{engine, "runsc", "nonsense", true},
	} {
		err := checkTier(tc.engine, plan.Boxes{Runtime: tc.runtime, RequireTier: tc.require})
		if (err != nil) != tc.refused {
			t.Errorf("runtime %q, required %q: %v", tc.runtime, tc.require, err)
			continue
		}
		var bad *document.InputError
		if tc.refused && (!errors.As(err, &bad) || bad.Hint == "" || !strings.Contains(bad.Message, string(tc.require))) {
			t.Errorf("runtime %q, required %q: %#v", tc.runtime, tc.require, err)
		}
	}
}

func TestNobodyCanAskForLessThanTheConfiguration(t *testing.T) {
	t.Parallel()
	task := func(tier string) *document.Task {
		box := ""
		if tier != "" {
			box = `, "box": {"require_tier": "` + tier + `"}`
		}
		decoded, err := document.Decode([]byte(`{"objective": "x", "context": {"repo_root": "/r"}, "execution_mode": "command", "suggested_commands": ["true"]` + box + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return decoded
	}
	for _, tc := range []struct {
		config sandbox.Tier
		task   string
		flag   sandbox.Tier
		want   sandbox.Tier
	}{
		{"", "", "", ""},
		{"", "userns", "", sandbox.TierUserns},
		{sandbox.TierRunsc, "runc", sandbox.TierUserns, sandbox.TierRunsc},
		{sandbox.TierRunc, "userns", sandbox.TierRunsc, sandbox.TierRunsc},
		{sandbox.TierRunc, "runsc", "", sandbox.TierRunsc},
	} {
		c := config.Default()
		c.Box.RequireTier = tc.config
		plan, err := plan.Compile(task(tc.task), c, plan.Overrides{RequireTier: tc.flag})
		if err != nil || plan.Box.RequireTier != tc.want {
			t.Errorf("%+v: %v, %v", tc, plan.Box.RequireTier, err)
		}
	}
	if _, err := plan.Compile(task(""), config.Default(), plan.Overrides{RequireTier: "gvisor"}); err == nil {
		t.Error("a flag that is no tier is taken")
	}
	if _, err := document.Decode([]byte(`{"objective": "x", "context": {"repo_root": "/r"}, "execution_mode": "command", "suggested_commands": ["true"], "box": {"require_tier": "none"}}`)); err == nil {
		t.Error("a task's demand that is no tier is taken")
	}
}
