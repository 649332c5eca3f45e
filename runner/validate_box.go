package runner

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/sandbox/egress"
)

// Least sizes. A shell and the guest fit into less, but no agent and no test
// does, and the engine itself refuses memory below 6 MiB (Docker's run reference).
const (
	minMemory Size = 64 << 20
	minDisk   Size = 1 << 20
)

var (
	imageForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}$`)
	runtimeForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	envForm     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// validate reports what the schema cannot say about a box; at is its pointer.
func (b *BoxRequest) validate(at string, p *problems) {
	if why := imageProblem(b.Image); why != "" {
		p.add(at+"/image", "%s", why)
	}
	if why := runtimeProblem(b.Runtime); why != "" {
		p.add(at+"/runtime", "%s", why)
	}
	if why := tierProblem(b.RequireTier); why != "" {
		p.add(at+"/require_tier", "%s", why)
	}
	if b.Memory != 0 && b.Memory < minMemory {
		p.add(at+"/memory", "must be at least %s", minMemory)
	}
	if b.Disk != 0 && b.Disk < minDisk {
		p.add(at+"/disk", "must be at least %s", minDisk)
	}
	if b.Network != nil {
		for i, host := range b.Network.Allow {
			if _, err := egress.ParseAllow(host); err != nil {
				p.add(fmt.Sprintf("%s/network/allow/%d", at, i), "%s", err)
			}
		}
	}
	for name := range b.Env {
		if why := envProblem(name); why != "" {
			p.add(at+"/env/"+pointerToken(name), "%s", why)
		}
	}
}

func imageProblem(image string) string {
	if image == "" || imageForm.MatchString(image) {
		return ""
	}
	return "is not a reference or id of an image"
}

func runtimeProblem(name string) string {
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
	reservedPrefixes = []string{
		"SANDBOXRUN", "ANTHROPIC_", "CLAUDE_", "OPENAI_", "CODEX_", "OPENCODE_", "COPILOT_", "GEMINI_", "GOOGLE_", "FACTORY_", "QWEN_",
	}
)

// envProblem says why a task cannot set a variable; "" when it can. The proxy
// variables are reserved in every case, as programs read both.
func envProblem(name string) string {
	if !envForm.MatchString(name) {
		return "is not a name of an environment variable"
	}
	reserved := slices.Contains(reservedNames, name) || strings.HasSuffix(strings.ToUpper(name), "_PROXY")
	for _, prefix := range reservedPrefixes {
		reserved = reserved || strings.HasPrefix(name, prefix)
	}
	for _, a := range agents.All() {
		reserved = reserved || slices.Contains(a.Info().Secrets, name)
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
