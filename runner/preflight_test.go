package runner

import (
	"errors"
	"strings"
	"testing"

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
