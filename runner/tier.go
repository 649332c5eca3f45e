package runner

import (
	"fmt"

	"sandboxrun/sandbox"
)

// tierHint says how a machine gets a higher tier.
const tierHint = `"--runtime runsc" is tier runsc where gVisor is installed; an engine with userns-remap is tier userns; ` +
	`"sandboxrun doctor" says what this machine has`

// tierProblem says why a demand cannot be one; "" when it can.
func tierProblem(t sandbox.Tier) string {
	if t == "" || t.Valid() {
		return ""
	}
	return fmt.Sprintf("must be one of %v", sandbox.Tiers())
}

// checkTier refuses a run whose boxes would be less isolated than demanded. It
// is an input error: a caller that asks for isolation must not be told that the
// work may be done without any.
func checkTier(engine sandbox.Info, box BoxPlan) error {
	have, why := engine.Tier(box.Runtime)
	if !have.Below(box.RequireTier) {
		return nil
	}
	return &InputError{
		Message: fmt.Sprintf("boxes here are tier %s, and tier %s is required", have, box.RequireTier),
		Details: []Detail{{Path: "/box/require_tier", Message: why}},
		Hint:    tierHint,
	}
}

// keepsTier is checkTier for a box that was made: the engine may have been
// configured anew since it was asked.
func (x *run) keepsTier(made sandbox.Sandbox) error {
	if x.plan.Box.RequireTier == "" {
		return nil
	}
	have, why := sandbox.TierRunc, "a box that does not say its runtime"
	if d, ok := made.(sandbox.Details); ok && d.Details().Runtime != "" {
		have, why = x.engine.Tier(d.Details().Runtime)
	}
	if have.Below(x.plan.Box.RequireTier) {
		return &sandbox.PolicyError{Promise: "tier " + string(x.plan.Box.RequireTier), Got: fmt.Sprintf("tier %s (%s)", have, why)}
	}
	return nil
}

// tier is what the working box had, "" when none was made.
func (x *run) tier() sandbox.Tier {
	if x.made.ID == "" {
		return ""
	}
	tier, _ := x.engine.Tier(x.made.Runtime)
	return tier
}
