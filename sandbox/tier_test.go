package sandbox

import "testing"

func TestTierFollowsTheEnginesReport(t *testing.T) {
	t.Parallel()
	both := []string{"runc", "runsc"}
	for name, tc := range map[string]struct {
		info    Info
		runtime string
		want    Tier
	}{
		"default runc":                    {Info{DefaultRun: "runc", Runtimes: both}, "", TierRunc},
		"runsc requested":                 {Info{DefaultRun: "runc", Runtimes: both}, "runsc", TierRunsc},
		"runsc by default":                {Info{DefaultRun: "runsc", Runtimes: both}, "", TierRunsc},
		"runc although the default is it": {Info{DefaultRun: "runsc", Runtimes: both}, "runc", TierRunc},
		"runsc not installed":             {Info{DefaultRun: "runc", Runtimes: both[:1]}, "runsc", TierRunc},
		"remapped users":                  {Info{DefaultRun: "runc", Runtimes: both, Security: []string{"seccomp", "userns"}}, "", TierUserns},
		"rootless":                        {Info{DefaultRun: "crun", Security: []string{"rootless"}}, "", TierUserns},
		"rootless and runsc":              {Info{DefaultRun: "runc", Runtimes: both, Security: []string{"rootless"}}, "runsc", TierRunsc},
		"unknown runtime":                 {Info{DefaultRun: "kata", Runtimes: []string{"kata"}}, "", TierRunc},
		"engine reports nothing":          {Info{}, "", TierRunc},
		"similar option":                  {Info{DefaultRun: "runc", Security: []string{"no-userns", "usernsx"}}, "", TierRunc},
	} {
		if got, why := tc.info.Tier(tc.runtime); got != tc.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", name, got, why, tc.want)
		}
	}
}

func TestTiersAreOrdered(t *testing.T) {
	t.Parallel()
	order := append([]Tier{"nonsense"}, Tiers()...)
	for i, have := range order {
		for j, want := range order[1:] {
			if got := have.Below(want); got != (i < j+1) {
				t.Errorf("%s below %s: %v", have, want, got)
			}
		}
		if have.Below("") {
			t.Errorf("%s is below an empty requirement", have)
		}
	}
	if !TierRunsc.Below("nonsense") {
		t.Error("an invalid requirement is satisfied")
	}
	if got := HighestTier("", TierUserns, TierRunc); got != TierUserns {
		t.Errorf("strictest requirement %q", got)
	}
	if got := HighestTier("", ""); got != "" {
		t.Errorf("no requirement gives %q", got)
	}
}
