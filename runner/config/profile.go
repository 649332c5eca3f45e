package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
)

// Variants every agent has.
const (
	VariantDefault    = "DEFAULT"
	VariantPlan       = "PLAN"       // looks and plans; changes nothing
	VariantSupervised = "SUPERVISED" // a person decides about tool calls
)

// Profile is how one variant of one agent is run: the fields every agent has,
// and in Settings the ones its own program has.
type Profile struct {
	AppendPrompt     string                   `json:"append_prompt,omitempty"` // put after the task's prompt
	Model            string                   `json:"model,omitempty"`
	Provider         string                   `json:"provider,omitempty"`
	AdditionalParams []string                 `json:"additional_params,omitempty"` // arguments of the agent's program
	Env              map[string]string        `json:"env,omitempty"`               // environment of the agent's program
	MCPServers       map[string]agents.Server `json:"mcp_servers,omitempty"`
	Approve          document.Approval        `json:"approve,omitempty"`
	ReadOnly         bool                     `json:"read_only,omitempty"` // its tree is mounted read-only
	Settings         agents.Settings          `json:"-"`
}

// ProfileField is one field of a profile and who decided it.
type ProfileField struct {
	Name   string          `json:"name"`
	Value  json.RawMessage `json:"value"`
	Origin string          `json:"origin"` // OriginBuiltIn, or the path of a file
}

// OriginBuiltIn is the origin of what this program comes with.
const OriginBuiltIn = "built-in"

// commonFields are the fields of Profile, and how each is put into one.
var commonFields = map[string]func(*Profile) any{
	"append_prompt":     func(p *Profile) any { return &p.AppendPrompt },
	"model":             func(p *Profile) any { return &p.Model },
	"provider":          func(p *Profile) any { return &p.Provider },
	"additional_params": func(p *Profile) any { return &p.AdditionalParams },
	"env":               func(p *Profile) any { return &p.Env },
	"mcp_servers":       func(p *Profile) any { return &p.MCPServers },
	"approve":           func(p *Profile) any { return &p.Approve },
	"read_only":         func(p *Profile) any { return &p.ReadOnly },
}

// fields are the raw fields of one variant, by name.
type fields map[string]ProfileField

// over returns f where f decides and base where it does not.
func (f fields) over(base fields) fields {
	out := fields{}
	for _, layer := range []fields{base, f} {
		maps.Copy(out, layer)
	}
	return out
}

// profile reads checked fields. What an agent's own settings mean for the runner
// counts where the common fields say nothing.
func (f fields) profile(info agents.Info) (Profile, error) {
	p := Profile{Settings: agents.Settings{}}
	for name, field := range f {
		if into, common := commonFields[name]; common {
			if err := json.Unmarshal(field.Value, into(&p)); err != nil {
				return Profile{}, err
			}
			continue
		}
		p.Settings[name] = field.Value
	}
	for _, o := range info.Options {
		value := p.Settings.String(o.Name)
		if o.Type == agents.OptionBool {
			value = strconv.FormatBool(p.Settings.Bool(o.Name))
		}
		if _, set := p.Settings[o.Name]; !set {
			continue
		}
		p.ReadOnly = p.ReadOnly || slices.Contains(o.ReadOnly, value)
		if p.Approve == "" && slices.Contains(o.Ask, value) {
			p.Approve = document.ApproveAsk
		}
	}
	return p, nil
}

// builtIn are the variants an agent comes with.
func builtIn(info agents.Info) map[string]fields {
	settings := map[string]agents.Settings{
		VariantDefault:    {},
		VariantPlan:       {"read_only": json.RawMessage("true")},
		VariantSupervised: {"approve": json.RawMessage(`"ask"`)},
	}
	maps.Copy(settings, info.Variants)
	out := map[string]fields{}
	for name, s := range settings {
		out[name] = fields{}
		for field, value := range s {
			out[name][field] = ProfileField{Name: field, Value: value, Origin: OriginBuiltIn}
		}
	}
	return out
}
