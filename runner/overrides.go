package runner

import (
	"fmt"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// Overrides is what the command line decides over task and configuration. Zero
// fields decide nothing.
type Overrides struct {
	Agent, Variant, Model string
	Base                  string
	Session, Retry        string
	ForceWhenDirty        bool
	Land                  Land
	Image, Runtime        string
	RequireTier           sandbox.Tier
	AllowHosts            []string // added to the others
	Approve               Approval
}

// validate reports flags that cannot work. They are in no document, so they
// have no pointer.
func (o Overrides) validate(p *problems) {
	flag := func(name, why string) {
		if why != "" {
			p.add("", "--%s %s", name, why)
		}
	}
	if o.Agent != "" {
		flag("agent", agentProblem(o.Agent))
	}
	flag("variant", variantProblem(o.Variant))
	flag("model", modelProblem(o.Model))
	flag("base", revisionProblem(o.Base))
	if o.Image != "" {
		flag("image", imageProblem(o.Image))
	}
	flag("runtime", runtimeProblem(o.Runtime))
	flag("require-tier", tierProblem(o.RequireTier))
	if o.Session != "" {
		flag("session", sessionProblem(o.Session))
	}
	flag("retry", runNameProblem(o.Retry))
	switch o.Land {
	case "", LandBranch, LandNone:
	default:
		flag("land", fmt.Sprintf("must be one of %s, %s", LandBranch, LandNone))
	}
	flag("approve", approvalProblem(o.Approve))
	for _, host := range o.AllowHosts {
		if _, err := egress.ParseAllow(host); err != nil {
			flag("allow-host", err.Error())
		}
	}
}
