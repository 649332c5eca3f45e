// Package catalog shows what this machine offers to tasks: agents with their keys and programs, and the variants of their
// profiles. The command line and the server show the same.
package catalog

import (
	"os/exec"

	"sandboxrun/agents"
	"sandboxrun/internal/wire"
	"sandboxrun/runner/config"
)

// Agent is an agent that this program can drive.
type Agent struct {
	Name      string      `json:"name"`
	Executor  string      `json:"executor"`
	Title     string      `json:"title"`
	Package   string      `json:"package"`
	Version   string      `json:"version"`   // pinned: what "image build" installs
	Providers []string    `json:"providers"` // of the configuration, preferred first
	Wires     []wire.Wire `json:"wires"`     // model APIs it supports, preferred first
	Provider  string      `json:"provider"`  // the one that would be used, "" for none
	Secrets   []string    `json:"secrets"`   // usual environment variables of a key
	KeySet    bool        `json:"key_set"`   // a key is configured for the provider
	Variants  []string    `json:"variants"`
	MCPPath   string      `json:"mcp_path"` // below HOME
	MCPKey    string      `json:"mcp_key"`
	Setup     string      `json:"setup"`

	Availability agents.Availability `json:"availability"` // of the program itself on this host
}

// Profile is one variant of an agent.
type Profile struct {
	Agent    string                `json:"agent"`
	Executor string                `json:"executor"`
	Variant  string                `json:"variant"`
	Fields   []config.ProfileField `json:"fields"`
}

// Agents lists every agent.
func Agents(cfg config.Config, getenv func(string) string) []Agent {
	list := []Agent{}
	for _, a := range agents.All() {
		list = append(list, AgentOf(cfg, a.Info(), getenv))
	}
	return list
}

// AgentOf shows one agent. It shows whether a key is set, never the key itself.
func AgentOf(cfg config.Config, i agents.Info, getenv func(string) string) Agent {
	v := Agent{
		Name: i.Name, Executor: i.Executor, Title: i.Title, Package: i.Package, Version: i.Version,
		Providers: i.Providers, Wires: i.Wires, Secrets: i.Secrets, Variants: cfg.Profiles.Variants(i), MCPPath: i.MCPPath, MCPKey: i.MCPKey, Setup: i.Setup,
		Availability: agents.Available(i, getenv("HOME"), getenv, func(program string) bool {
			_, err := exec.LookPath(program)
			return err == nil
		}),
	}
	if provider, _, err := cfg.ProviderFor(i.Providers, i.Wires); err == nil {
		v.Provider = provider
		_, err := cfg.Key(provider, getenv)
		v.KeySet = err == nil
	}
	return v
}

// Profiles lists the variants of an agent.
func Profiles(cfg config.Config, info agents.Info) []Profile {
	list := []Profile{}
	for _, variant := range cfg.Profiles.Variants(info) {
		list = append(list, ProfileOf(cfg, info, variant))
	}
	return list
}

// ProfileOf shows one variant, which must be one of the agent's.
func ProfileOf(cfg config.Config, info agents.Info, variant string) Profile {
	fields, _ := cfg.Profiles.Fields(info, variant) // the variant is one of the listed
	if fields == nil {
		fields = []config.ProfileField{}
	}
	return Profile{Agent: info.Name, Executor: info.Executor, Variant: variant, Fields: fields}
}
