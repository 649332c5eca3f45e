package sandbox

import (
	"cmp"
	"fmt"
	"slices"
)

// Tier names how strongly a box is isolated from the machine; a caller can require one. Each tier includes the
// promises of the lower ones.
type Tier string

// Tiers, the lowest first. Every box has at least TierRunc.
const (
	// TierRunc is a hardened container: no capabilities, no network, filtered
	// system calls, on the machine's own kernel and with its user numbers.
	TierRunc Tier = "runc"
	// TierUserns is such a container under a rootless engine or one that remaps users: even root of the box has no
	// rights on the machine.
	TierUserns Tier = "userns"
	// TierRunsc is gVisor: system calls of the box reach gVisor's kernel, not the machine's.
	TierRunsc Tier = "runsc"
)

// Tiers lists all tiers, the lowest first.
func Tiers() []Tier { return []Tier{TierRunc, TierUserns, TierRunsc} }

// rank orders tiers. An invalid tier ranks below all others.
func (t Tier) rank() int { return slices.Index(Tiers(), t) }

// Valid says whether t is a tier.
func (t Tier) Valid() bool { return t.rank() >= 0 }

// Below reports whether t does not satisfy want. An empty want is always satisfied, an invalid one never.
func (t Tier) Below(want Tier) bool {
	return want != "" && (!want.Valid() || t.rank() < want.rank())
}

// HighestTier returns the strictest of several requirements; "" is none.
func HighestTier(demands ...Tier) Tier {
	return slices.MaxFunc(append(demands, ""), func(a, b Tier) int { return cmp.Compare(a.rank(), b.rank()) })
}

// Tier returns the highest tier that the engine's report supports for a box with runtime ("" for the default), and the
// reason for people. An unknown runtime counts as a plain container.
func (i Info) Tier(runtime string) (tier Tier, why string) {
	name := cmp.Or(runtime, i.DefaultRun)
	shown := cmp.Or(name, "unknown")
	if name == string(TierRunsc) && slices.Contains(i.Runtimes, name) {
		return TierRunsc, "runtime " + shown
	}
	for _, option := range []string{"rootless", "userns"} {
		if slices.Contains(i.Security, option) {
			return TierUserns, fmt.Sprintf("runtime %s, engine with %s", shown, option)
		}
	}
	return TierRunc, fmt.Sprintf("runtime %s, engine without user namespaces", shown)
}
