package agents

import (
	"context"
	"slices"
	"testing"

	"sandboxrun/sandbox"
)

// named is an agent that is only looked up.
type named struct{ info Info }

func (n named) Info() Info { return n.info }
func (named) Run(context.Context, sandbox.Sandbox, Turn, Host) (Outcome, error) {
	return Outcome{}, nil
}

func sample(name, executor string) named {
	info := claude{}.Info()
	info.Name, info.Executor = name, executor
	return named{info}
}

func TestRegistryFindsAgentsByBothNamesExactly(t *testing.T) {
	t.Parallel()
	var r registry
	r.register(sample("zeta", "ZETA_CLI"))
	r.register(sample("alpha", "ALPHA"))
	for name, want := range map[string]string{"zeta": "zeta", "ZETA_CLI": "zeta", "ALPHA": "alpha", "Zeta": "", "zeta_cli": "", "": ""} {
		a, ok := r.lookup(name)
		if ok != (want != "") || ok && a.Info().Name != want {
			t.Errorf("lookup(%q) = %v, %v; want %q", name, a, ok, want)
		}
	}
	var names []string
	for _, a := range r.all() {
		names = append(names, a.Info().Name)
	}
	if !slices.Equal(names, []string{"alpha", "zeta"}) {
		t.Errorf("all = %v, want them sorted", names)
	}
}

func TestRegistryPanicsOnWhatDoesNotHoldTogether(t *testing.T) {
	t.Parallel()
	unversioned := sample("x", "X")
	unversioned.info.Version = ""
	for name, bad := range map[string]named{
		"short name taken":    sample("taken", "OTHER"),
		"executor name taken": sample("other", "TAKEN"),
		"upper-case name":     sample("Other", "OTHER"),
		"no executor":         sample("other", ""),
		"no version":          unversioned,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r registry
			r.register(sample("taken", "TAKEN"))
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			r.register(bad)
		})
	}
}

func TestEveryAgentIsRegisteredUnderItsContractNames(t *testing.T) {
	t.Parallel()
	for short, executor := range map[string]string{"claude": "CLAUDE_CODE"} {
		a, ok := Lookup(short)
		b, okToo := Lookup(executor)
		if !ok || !okToo || a != b {
			t.Errorf("%s and %s do not name one agent", short, executor)
		}
	}
}
