package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/runner/excerpt"
)

// Profiles are the variants of all agents: what this program comes with, and
// over it, field by field, what the user decided. The zero value has the former.
type Profiles struct {
	User map[string]map[string]fields // by executor name and variant
}

// Variants lists the variants of an agent, DEFAULT first, then by name.
func (p Profiles) Variants(info agents.Info) []string {
	names := builtIn(info)
	for v := range p.User[info.Executor] {
		names[v] = nil
	}
	list := slices.Sorted(maps.Keys(names))
	slices.SortStableFunc(list, func(a, b string) int {
		return boolRank(b == VariantDefault) - boolRank(a == VariantDefault)
	})
	return list
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Fields lists the fields of a variant with where each came from, sorted by
// name. known is false for a variant nobody defined.
func (p Profiles) Fields(info agents.Info, variant string) (list []ProfileField, known bool) {
	f, known := p.fields(info, variant)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		list = append(list, f[name])
	}
	return list, known
}

// Profile is a variant of an agent, ready to run with.
func (p Profiles) Profile(info agents.Info, variant string) (Profile, error) {
	f, known := p.fields(info, variant)
	if !known {
		return Profile{}, fmt.Errorf("no variant of %s is called %q (there are: %s)", info.Name, excerpt.Clip(variant, 64), strings.Join(p.Variants(info), ", "))
	}
	out, err := f.profile(info)
	if err != nil {
		return Profile{}, fmt.Errorf("variant %s of %s: %w", variant, info.Name, err)
	}
	return out, nil
}

func (p Profiles) fields(info agents.Info, variant string) (f fields, known bool) {
	base, ours := builtIn(info)[variant]
	over, theirs := p.User[info.Executor][variant]
	return over.over(base), ours || theirs
}
