package document

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// Least sizes. A shell and the guest fit into less, but no agent and no test
// does, and the engine itself refuses memory below 6 MiB (Docker's run reference).
const (
	MinMemory Size = 64 << 20
	minDisk   Size = 1 << 20
)

var (
	imageForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}$`)
	runtimeForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	envForm     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// Validate reports what the schema cannot say about a box; at is its pointer.
func (b *BoxRequest) Validate(at string, p *Problems) {
	if why := ImageProblem(b.Image); why != "" {
		p.Add(at+"/image", "%s", why)
	}
	if why := RuntimeProblem(b.Runtime); why != "" {
		p.Add(at+"/runtime", "%s", why)
	}
	if why := TierProblem(b.RequireTier); why != "" {
		p.Add(at+"/require_tier", "%s", why)
	}
	if b.Memory != 0 && b.Memory < MinMemory {
		p.Add(at+"/memory", "must be at least %s", MinMemory)
	}
	if b.Disk != 0 && b.Disk < minDisk {
		p.Add(at+"/disk", "must be at least %s", minDisk)
	}
	if b.Network != nil {
		for field, hosts := range map[string][]string{"allow": b.Network.Allow, "verify_allow": b.Network.VerifyAllow} {
			for i, host := range hosts {
				if _, err := egress.ParseAllow(host); err != nil {
					p.Add(fmt.Sprintf("%s/network/%s/%d", at, field, i), "%s", err)
				}
			}
		}
	}
	for name := range b.Env {
		if why := EnvProblem(name); why != "" {
			p.Add(at+"/env/"+pointerToken(name), "%s", why)
		}
	}
}

// ImageProblem says why no image can be called so; "" when one can, or for "".
func ImageProblem(image string) string {
	if image == "" || imageForm.MatchString(image) {
		return ""
	}
	return "is not a reference or id of an image"
}

// RuntimeProblem says why no runtime can be called so; "" when one can, or for "".
func RuntimeProblem(name string) string {
	if name == "" || runtimeForm.MatchString(name) {
		return ""
	}
	return "is not a name of a runtime"
}

// The names a task cannot set: those the runner sets itself, those that would
// send an agent elsewhere or hand it a key, and those that load code into every
// process.
var (
	reservedNames    = []string{"HOME", "TMPDIR", "LD_PRELOAD", "LD_AUDIT"}
	reservedPrefixes = []string{"SANDBOXRUN"} // and those of every agent's Info.EnvPrefixes
)

// EnvProblem says why a task cannot set a variable; "" when it can. The proxy
// variables are reserved in every case, as programs read both.
func EnvProblem(name string) string {
	if !envForm.MatchString(name) {
		return "is not a name of an environment variable"
	}
	reserved := slices.Contains(reservedNames, name) || strings.HasSuffix(strings.ToUpper(name), "_PROXY")
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	reserved = reserved || slices.ContainsFunc(reservedPrefixes, begins)
	for _, a := range agents.All() {
		info := a.Info()
		reserved = reserved || slices.Contains(info.Secrets, name) || slices.ContainsFunc(info.EnvPrefixes, begins)
	}
	if reserved {
		return "is set by the runner and cannot be chosen"
	}
	return ""
}

// pointerToken escapes a name for a JSON pointer (RFC 6901 section 3).
func pointerToken(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// TierProblem says why a demand cannot be one; "" when it can.
func TierProblem(t sandbox.Tier) string {
	if t == "" || t.Valid() {
		return ""
	}
	return fmt.Sprintf("must be one of %v", sandbox.Tiers())
}
