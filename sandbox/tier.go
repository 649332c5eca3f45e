package sandbox

import (
	"cmp"
	"fmt"
	"slices"
)

// Tier says how much stands between a box and the machine, in a word that a
// caller can insist on. Higher tiers hold everything lower ones do.
type Tier string

// Tiers, the lowest first. Every box has at least what TierRunc says.
const (
	// TierRunc is a hardened container: no capabilities, no network, filtered
	// system calls, on the machine's own kernel and with its user numbers.
	TierRunc Tier = "runc"
	// TierUserns is such a container of a rootless engine or of one that remaps
	// users: not even root of the box would be anybody on the machine.
	TierUserns Tier = "userns"
	// TierRunsc is gVisor: the kernel a box talks to is not the machine's.
	TierRunsc Tier = "runsc"
)

// Tiers lists all tiers, the lowest first.
func Tiers() []Tier { return []Tier{TierRunc, TierUserns, TierRunsc} }

// rank orders tiers. What is no tier is below all of them.
func (t Tier) rank() int { return slices.Index(Tiers(), t) }

// Valid says whether t is a tier.
func (t Tier) Valid() bool { return t.rank() >= 0 }

// Below says whether t is less than want. Nothing is less than no demand, and
// everything less than a demand that is no tier.
func (t Tier) Below(want Tier) bool {
	return want != "" && (!want.Valid() || t.rank() < want.rank())
}

// HighestTier returns the strictest of several demands; "" is none.
func HighestTier(demands ...Tier) Tier {
	return slices.MaxFunc(append(demands, ""), func(a, b Tier) int { return cmp.Compare(a.rank(), b.rank()) })
}

// Tier is the highest tier the engine's own words vouch for when a box is made
// with runtime ("" for its default), and the reason for people. What an engine
// does not say does not count: a runtime nobody knows is a plain container's.
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
