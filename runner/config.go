package runner

import (
	"maps"

	"sandboxrun/sandbox"
)

// Config is what the user decided about this machine: who works by default,
// where models are, what boxes may use. Zero fields were not decided.
type Config struct {
	DefaultAgent string              `json:"default_agent"`
	Providers    map[string]Provider `json:"providers"`
	Box          BoxConfig           `json:"box"`
	Limits       LimitsConfig        `json:"limits"`
	Land         LandConfig          `json:"land"`
	Serve        ServeConfig         `json:"serve"`
	// Profiles come from a file of their own.
	Profiles Profiles `json:"-"`
}

// BoxConfig is what boxes get where a task asks for nothing else.
type BoxConfig struct {
	Image   string `json:"image"`
	Runtime string `json:"runtime"`
	// RequireTier refuses runs whose boxes would have less; "" for none.
	RequireTier sandbox.Tier  `json:"require_tier"`
	Memory      Size          `json:"memory"`
	CPUs        float64       `json:"cpus"`
	PIDs        int64         `json:"pids"`
	Disk        Size          `json:"disk"`
	Network     NetworkConfig `json:"network"`
}

// NetworkConfig is what setup commands of every task may reach.
type NetworkConfig struct {
	Allow []string `json:"allow"` // hosts, added to the task's
	// AllowPrivate opens allowed names that resolve to private or local
	// addresses: only the user can know that such a host is meant for boxes.
	AllowPrivate bool `json:"allow_private"`
}

// ServeConfig holds the settings of the server.
type ServeConfig struct {
	MaxParallel int      `json:"max_parallel"` // runs at one time
	RepoRoots   []string `json:"repo_roots"`   // where repositories may lie, empty for anywhere
}

// DefaultConfig is what holds where nobody decided otherwise.
func DefaultConfig() Config {
	return Config{
		DefaultAgent: "claude",
		Providers:    defaultProviders(),
		Box: BoxConfig{
			Image: "sandboxrun/agent", Memory: 2 << 30, CPUs: 2, PIDs: 512, Disk: 4 << 30,
			Network: NetworkConfig{Allow: []string{}},
		},
		Limits: defaultLimits(),
		Land:   defaultLand(),
		Serve:  ServeConfig{MaxParallel: 2, RepoRoots: []string{}},
	}
}

// over returns c where c decides and base where it does not.
func (c Config) over(base Config) Config {
	out := base
	out.DefaultAgent = firstSet(c.DefaultAgent, base.DefaultAgent)
	out.Providers = map[string]Provider{}
	maps.Copy(out.Providers, base.Providers)
	for name, p := range c.Providers {
		out.Providers[name] = p.over(base.Providers[name])
	}
	out.Box = c.Box.over(base.Box)
	out.Limits = c.Limits.over(base.Limits)
	out.Land = c.Land.over(base.Land)
	if c.Profiles.user != nil {
		out.Profiles = c.Profiles
	}
	out.Serve.MaxParallel = firstSet(c.Serve.MaxParallel, base.Serve.MaxParallel)
	if c.Serve.RepoRoots != nil {
		out.Serve.RepoRoots = c.Serve.RepoRoots
	}
	return out
}

// over returns b where b decides and base where it does not. Hosts add up.
func (b BoxConfig) over(base BoxConfig) BoxConfig {
	return BoxConfig{
		Image:   firstSet(b.Image, base.Image),
		Runtime: firstSet(b.Runtime, base.Runtime),
		// Whoever demands more is heard, and nobody can demand less.
		RequireTier: sandbox.HighestTier(base.RequireTier, b.RequireTier),
		Memory:      firstSet(b.Memory, base.Memory),
		CPUs:        firstSet(b.CPUs, base.CPUs),
		PIDs:        firstSet(b.PIDs, base.PIDs),
		Disk:        firstSet(b.Disk, base.Disk),
		Network: NetworkConfig{
			Allow:        append(list(base.Network.Allow), b.Network.Allow...),
			AllowPrivate: b.Network.AllowPrivate || base.Network.AllowPrivate,
		},
	}
}

// request is what a task may ask of the box, taken from the configuration.
func (b BoxConfig) request() *BoxRequest {
	return &BoxRequest{
		Image: b.Image, Runtime: b.Runtime, RequireTier: b.RequireTier, Memory: b.Memory, CPUs: b.CPUs, PIDs: b.PIDs, Disk: b.Disk,
		Network: &NetworkRequest{Allow: b.Network.Allow},
	}
}

// config is the reverse of request. A task cannot open private addresses.
func (b *BoxRequest) config() BoxConfig {
	c := BoxConfig{Image: b.Image, Runtime: b.Runtime, RequireTier: b.RequireTier, Memory: b.Memory, CPUs: b.CPUs, PIDs: b.PIDs, Disk: b.Disk}
	if b.Network != nil {
		c.Network.Allow = b.Network.Allow
	}
	return c
}

// firstSet returns the first value that is not zero.
func firstSet[T comparable](values ...T) T {
	var zero T
	for _, v := range values {
		if v != zero {
			return v
		}
	}
	return zero
}
