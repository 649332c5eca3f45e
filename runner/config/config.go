// Package config is what the user decided about this machine: providers and their
// keys, boxes, limits, landing, and the profiles of agents.
package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"sandboxrun/runner/document"
	"sandboxrun/runner/reading"
	"sandboxrun/sandbox"
)

// Environment variables that decide what the configuration would.
const (
	EnvConfig   = "SANDBOXRUN_CONFIG"    // path of the configuration
	EnvStateDir = "SANDBOXRUN_STATE_DIR" // absolute path of the state directory
	EnvAgent    = "SANDBOXRUN_AGENT"     // default_agent
	EnvImage    = "SANDBOXRUN_IMAGE"     // box.image
	EnvRuntime  = "SANDBOXRUN_RUNTIME"   // box.runtime
)

// Config is what the user decided about this machine: who works by default,
// where models are, what boxes may use. Zero fields were not decided.
type Config struct {
	DefaultAgent string              `json:"default_agent"`
	Providers    map[string]Provider `json:"providers"`
	Box          Box                 `json:"box"`
	Limits       Limits              `json:"limits"`
	Land         Land                `json:"land"`
	Serve        Serve               `json:"serve"`
	// Readings are patterns by which sentences of tasks are read, beside those of the program.
	Readings []reading.UserPattern `json:"readings,omitempty"`
	// Repositories are decisions by the path of a repository, or of a directory above it.
	Repositories map[string]Repository `json:"repositories,omitempty"`
	// Profiles come from a file of their own.
	Profiles Profiles `json:"-"`
}

// Box is what boxes get where a task asks for nothing else.
type Box struct {
	Image   string `json:"image"`
	Runtime string `json:"runtime"`
	// RequireTier refuses runs whose boxes would have less; "" for none.
	RequireTier sandbox.Tier  `json:"require_tier"`
	Memory      document.Size `json:"memory"`
	CPUs        float64       `json:"cpus"`
	PIDs        int64         `json:"pids"`
	Disk        document.Size `json:"disk"`
	Network     Network       `json:"network"`
}

// Network is what setup commands of every task may reach.
type Network struct {
	Allow []string `json:"allow"` // hosts, added to the task's
	// AllowPrivate opens allowed names that resolve to private or local
	// addresses: only the user can know that such a host is meant for boxes.
	AllowPrivate bool `json:"allow_private"`
}

// Default is what holds where nobody decided otherwise.
func Default() Config {
	return Config{
		DefaultAgent: "claude",
		Providers:    defaultProviders(),
		Box: Box{
			Image: "sandboxrun/agent", Memory: 2 << 30, CPUs: 2, PIDs: 512, Disk: 4 << 30,
			Network: Network{Allow: []string{}},
		},
		Limits: defaultLimits(),
		Land:   defaultLand(),
		Serve:  defaultServe(),
	}
}

// Over returns c where c decides and base where it does not.
func (c Config) Over(base Config) Config {
	out := base
	out.DefaultAgent = cmp.Or(c.DefaultAgent, base.DefaultAgent)
	out.Providers = map[string]Provider{}
	maps.Copy(out.Providers, base.Providers)
	for name, p := range c.Providers {
		out.Providers[name] = p.over(base.Providers[name])
	}
	out.Box = c.Box.Over(base.Box)
	out.Limits = c.Limits.over(base.Limits)
	out.Land = c.Land.over(base.Land)
	if c.Profiles.User != nil {
		out.Profiles = c.Profiles
	}
	out.Serve = c.Serve.over(base.Serve)
	out.Readings = slices.Concat(base.Readings, c.Readings)
	if c.Repositories != nil {
		out.Repositories = c.Repositories
	}
	return out
}

// Over returns b where b decides and base where it does not. Hosts add up.
func (b Box) Over(base Box) Box {
	return Box{
		Image:   cmp.Or(b.Image, base.Image),
		Runtime: cmp.Or(b.Runtime, base.Runtime),
		// Whoever demands more is heard, and nobody can demand less.
		RequireTier: sandbox.HighestTier(base.RequireTier, b.RequireTier),
		Memory:      cmp.Or(b.Memory, base.Memory),
		CPUs:        cmp.Or(b.CPUs, base.CPUs),
		PIDs:        cmp.Or(b.PIDs, base.PIDs),
		Disk:        cmp.Or(b.Disk, base.Disk),
		Network: Network{
			Allow:        append(append([]string{}, base.Network.Allow...), b.Network.Allow...),
			AllowPrivate: b.Network.AllowPrivate || base.Network.AllowPrivate,
		},
	}
}

// request is what a task may ask of the box, taken from the configuration.
func (b Box) request() *document.BoxRequest {
	return &document.BoxRequest{
		Image: b.Image, Runtime: b.Runtime, RequireTier: b.RequireTier, Memory: b.Memory, CPUs: b.CPUs, PIDs: b.PIDs, Disk: b.Disk,
		Network: &document.NetworkRequest{Allow: b.Network.Allow},
	}
}

// BoxOf is the reverse of request. A task cannot open private addresses.
func BoxOf(b *document.BoxRequest) Box {
	c := Box{Image: b.Image, Runtime: b.Runtime, RequireTier: b.RequireTier, Memory: b.Memory, CPUs: b.CPUs, PIDs: b.PIDs, Disk: b.Disk}
	if b.Network != nil {
		c.Network.Allow = b.Network.Allow
	}
	return c
}

// Land is what the user decided about changes that come into their
// repositories. No task can say anything of it.
type Land struct {
	// AllowSecrets are fingerprints of what looks like a secret and is none, as
	// issues name them.
	AllowSecrets []string `json:"allow_secrets,omitempty"`
	// Permit are codes of findings that keep a change from landing and that the
	// user does not mind; Refuse are codes, and classes of dangerous paths, that
	// do so although they would only be told.
	Permit []string `json:"permit"`
	Refuse []string `json:"refuse"`
	// MaxFile is the size above which a new file is told of, and the least up to
	// which one is taken at all.
	MaxFile document.Size `json:"max_file"`
	// Author and Committer of landed commits, as "Name <address>". Without them the author is whom git would take in the
	// repository, and the committer is this program.
	Author    string `json:"author,omitempty"`
	Committer string `json:"committer,omitempty"`
}

// DefaultMaxFile is where hosts of repositories begin to warn.
const DefaultMaxFile = 50 << 20

func defaultLand() Land {
	return Land{AllowSecrets: []string{}, Permit: []string{}, Refuse: []string{}, MaxFile: DefaultMaxFile}
}

// over returns l and base together: lists add up.
func (l Land) over(base Land) Land {
	return Land{
		AllowSecrets: append(append([]string{}, base.AllowSecrets...), l.AllowSecrets...),
		Permit:       append(append([]string{}, base.Permit...), l.Permit...),
		Refuse:       append(append([]string{}, base.Refuse...), l.Refuse...),
		MaxFile:      cmp.Or(l.MaxFile, base.MaxFile),
		Author:       cmp.Or(l.Author, base.Author),
		Committer:    cmp.Or(l.Committer, base.Committer),
	}
}

// baseDir follows the XDG Base Directory Specification, by which a relative
// path in a variable is to be ignored.
func baseDir(getenv func(string) string, variable, below string) (string, error) {
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "sandboxrun"), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", &document.InputError{
			Message: fmt.Sprintf("neither %s nor HOME is an absolute path", variable),
			Hint:    fmt.Sprintf("set HOME, or %s and %s", EnvConfig, EnvStateDir),
		}
	}
	return filepath.Join(home, below, "sandboxrun"), nil
}
