package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner"
	"sandboxrun/sandbox"
)

// requireTierFlag insists on a tier; execute, plan and doctor share it.
var requireTierFlag = &cli.StringFlag{Name: "require-tier", Usage: "refuse boxes below this `TIER`: runc, userns (users remapped) or runsc (gVisor)"}

// requiredTier adds the flag's demand to the configuration's.
func requiredTier(c *cli.Context, configured sandbox.Tier) (sandbox.Tier, error) {
	asked := sandbox.Tier(c.String(requireTierFlag.Name))
	if asked != "" && !asked.Valid() {
		return "", &runner.InputError{Message: fmt.Sprintf("--require-tier must be one of %v", sandbox.Tiers())}
	}
	return sandbox.HighestTier(configured, asked), nil
}

// checkTier says what boxes get where nobody names another runtime, and fails
// where that is less than demanded.
func checkTier(_ context.Context, x *examination) finding {
	have, why := x.info.Tier(x.config.Box.Runtime)
	switch {
	case have.Below(x.config.Box.RequireTier):
		return fail(`set box.runtime to runsc where gVisor is installed, or turn on userns-remap in the engine`,
			"%s (%s), and %s is required: every run is refused", have, why, x.config.Box.RequireTier)
	case have == sandbox.TierRunc:
		return caution("install gVisor and set box.runtime to runsc, or turn on userns-remap in the engine",
			"%s (%s): one hole in the kernel or in the runtime is enough to leave a box", have, why)
	}
	return pass("%s (%s)", have, why)
}
