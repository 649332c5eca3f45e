package plan

import (
	"fmt"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// Overrides are the decisions of the command line over task and configuration. Zero fields decide nothing.
type Overrides struct {
	Agent          string            `json:"agent,omitempty"`
	Variant        string            `json:"variant,omitempty"`
	Model          string            `json:"model,omitempty"`
	Base           string            `json:"base,omitempty"`
	Session        string            `json:"session,omitempty"`
	Retry          string            `json:"retry,omitempty"`
	ForceWhenDirty bool              `json:"force_when_dirty,omitempty"`
	Land           document.Land     `json:"land,omitempty"`
	Image          string            `json:"image,omitempty"`
	Runtime        string            `json:"runtime,omitempty"`
	RequireTier    sandbox.Tier      `json:"require_tier,omitempty"`
	AllowHosts     []string          `json:"allow_hosts,omitempty"` // added to the others
	Approve        document.Approval `json:"approve,omitempty"`
	Strict         bool              `json:"strict,omitempty"` // refuse sentences that are not measured as a whole
}

// validate reports flags that cannot work. They are in no document, so they
// have no pointer.
func (o Overrides) validate(p *document.Problems) {
	flag := func(name, why string) {
		if why != "" {
			p.Add("", "--%s %s", name, why)
		}
	}
	if o.Agent != "" {
		flag("agent", document.AgentProblem(o.Agent))
	}
	flag("variant", document.VariantProblem(o.Variant))
	flag("model", document.ModelProblem(o.Model))
	flag("base", document.RevisionProblem(o.Base))
	if o.Image != "" {
		flag("image", document.ImageProblem(o.Image))
	}
	flag("runtime", document.RuntimeProblem(o.Runtime))
	flag("require-tier", document.TierProblem(o.RequireTier))
	if o.Session != "" {
		flag("session", document.SessionProblem(o.Session))
	}
	flag("retry", document.RunNameProblem(o.Retry))
	switch o.Land {
	case "", document.LandBranch, document.LandNone:
	default:
		flag("land", fmt.Sprintf("must be one of %s, %s", document.LandBranch, document.LandNone))
	}
	flag("approve", document.ApprovalProblem(o.Approve))
	for _, host := range o.AllowHosts {
		if _, err := egress.ParseAllow(host); err != nil {
			flag("allow-host", err.Error())
		}
	}
}
