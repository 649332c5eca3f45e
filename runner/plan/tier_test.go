package plan

import (
	"testing"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
)

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
		p, err := Compile(task(tc.task), c, Overrides{RequireTier: tc.flag})
		if err != nil || p.Box.RequireTier != tc.want {
			t.Errorf("%+v: %v, %v", tc, p.Box.RequireTier, err)
		}
	}
	if _, err := Compile(task(""), config.Default(), Overrides{RequireTier: "gvisor"}); err == nil {
		t.Error("a flag that is no tier is taken")
	}
	if _, err := document.Decode([]byte(`{"objective": "x", "context": {"repo_root": "/r"}, "execution_mode": "command", "suggested_commands": ["true"], "box": {"require_tier": "none"}}`)); err == nil {
		t.Error("a task's demand that is no tier is taken")
	}
}
