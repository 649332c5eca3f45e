package document

import (
	"fmt"
	"regexp"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"sandboxrun/agents"
	"sandboxrun/runner/excerpt"
)

// VariantForm is the form of a variant's name.
var VariantForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// modelForm is the form of a model's name.
var modelForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127}$`)

// UnmarshalJSON reads a bare name or an object.
func (a *AgentChoice) UnmarshalJSON(data []byte) error {
	*a = AgentChoice{}
	if data[0] != '{' {
		return jsonv2.Unmarshal(data, &a.Name)
	}
	type plain AgentChoice // without this method
	return jsonv2.Unmarshal(data, (*plain)(a))
}

// AgentProblem says why no agent is called so; "" when one is. Short names and
// executor names are both names.
func AgentProblem(name string) string {
	if _, ok := agents.Lookup(name); ok {
		return ""
	}
	var known, spellings []string
	short := map[string]string{}
	for _, a := range agents.All() {
		info := a.Info()
		known = append(known, info.Name)
		for _, s := range []string{info.Name, info.Executor, info.Title} {
			spellings = append(spellings, s)
			short[s] = info.Name
		}
	}
	if meant := short[Nearest(name, spellings)]; meant != "" {
		return fmt.Sprintf("no agent is called %q; is %q meant? (there are: %s)", excerpt.Clip(name, 64), meant, strings.Join(known, ", "))
	}
	return fmt.Sprintf("no agent is called %q (there are: %s)", excerpt.Clip(name, 64), strings.Join(known, ", "))
}

// VariantProblem says why no variant can be called so; "" when one can. Whether
// the agent has it is the profiles' word.
func VariantProblem(variant string) string {
	if variant == "" || VariantForm.MatchString(variant) {
		return ""
	}
	return variantReason(variant)
}

func variantReason(variant string) string {
	if upper := strings.ToUpper(strings.ReplaceAll(variant, "-", "_")); VariantForm.MatchString(upper) {
		return fmt.Sprintf("%s; is %s meant?", formReason(VariantForm.String()), upper)
	}
	return formReason(VariantForm.String())
}

// ModelProblem says why a model cannot be called so; "" when it can. A name
// becomes an argument of the agent's program and must not look like a flag.
func ModelProblem(model string) string {
	if model == "" || modelForm.MatchString(model) {
		return ""
	}
	return "is not a name of a model"
}
