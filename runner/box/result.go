package box

import (
	"cmp"
	"fmt"
	"strings"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// Planned is what the plan says of a run's boxes.
func Planned(p *plan.Plan) *document.BoxResult {
	l := p.Box.Limits
	r := &document.BoxResult{
		Image: p.Box.Image,
		Limits: document.BoxLimits{MemoryBytes: l.MemoryBytes, CPUs: l.CPUs, PIDs: l.PIDs, DiskBytes: l.DiskBytes,
			OutputBytes: l.OutputBytes, MaxRuntimeSeconds: p.MaxRuntimeSeconds},
		Network: document.BoxNetwork{Mode: "none", Provider: p.ProviderName(), Setup: append([]string{}, p.Box.SetupAllow...), Denied: []string{}},
	}
	if p.VerifySetup == plan.SetupOnCaptured {
		r.Network.VerifyAllow = append([]string{}, p.Box.VerifyAllow...)
	}
	return r
}

// Result is what the result says of the boxes; layout is how trees reached them,
// "" where none did.
func (bs *Boxes) Result(p *plan.Plan, layout workspace.Layout) *document.BoxResult {
	r := Planned(p)
	r.Engine, r.Runtime, r.Tier = strings.TrimSpace(bs.Info.Name+" "+bs.Info.Version), bs.Made.Runtime, string(bs.tier())
	r.ImageDigest, r.Layout, r.Network.Denied = cmp.Or(bs.Made.ImageDigest, bs.Made.ImageID), string(layout), bs.Usage.Names()
	r.Network.Connections, r.Network.ConnectionsOmitted = bs.Usage.Connections()
	return r
}

// tier is what the working box had, "" when none was made.
func (bs *Boxes) tier() sandbox.Tier {
	if bs.Made.ID == "" {
		return ""
	}
	tier, _ := bs.Info.Tier(bs.Made.Runtime)
	return tier
}

// keepsTier is checkTier for a box that was made: the engine may have been
// configured anew since preflight.
func (bs *Boxes) keepsTier(made sandbox.Sandbox) error {
	if bs.Plan.RequireTier == "" {
		return nil
	}
	have, why := sandbox.TierRunc, "a box that does not say its runtime"
	if d, ok := made.(sandbox.Details); ok && d.Details().Runtime != "" {
		have, why = bs.Info.Tier(d.Details().Runtime)
	}
	if have.Below(bs.Plan.RequireTier) {
		return &sandbox.PolicyError{Promise: "tier " + string(bs.Plan.RequireTier), Got: fmt.Sprintf("tier %s (%s)", have, why)}
	}
	return nil
}

// record writes one answer or refusal of the gate of a box to the journal.
func (bs *Boxes) record(role string, r egress.Record) {
	switch r.Kind {
	case egress.KindDenied:
		if r.Judged {
			bs.Usage.refuse(r.Name, r.Reason)
		} else {
			bs.Usage.deny(r.Name, r.Address)
		}
		bs.Log.Emit("", journal.EgressDenied{Name: r.Name, Reason: r.Reason, Method: r.Method, Count: r.Count, Address: r.Address})
	case egress.KindConnect:
		bs.Usage.connect(role, r)
		bs.Log.Emit("", journal.ProxyUsage{Source: journal.UsageOfProxy, Name: r.Name, Reason: r.Reason,
			RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes, DurationMS: r.Duration.Milliseconds()})
	default:
		bs.Usage.count(r)
		bs.Log.Emit("", journal.BrokerUsage{Source: journal.UsageOfBroker, Provider: r.Provider, Method: r.Method, Path: r.Path,
			Status: r.Status, Reason: r.Reason, Model: r.Model, RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes,
			InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, CacheReadTokens: r.CacheReadTokens,
			CacheWriteTokens: r.CacheWriteTokens, DurationMS: r.Duration.Milliseconds()})
	}
}
