package agents

import (
	"context"
	"slices"
	"testing"

	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

// named is an agent that is only looked up.
type named struct{ info Info }

func (n named) Info() Info { return n.info }
func (named) Run(context.Context, sandbox.Sandbox, Turn, Host) (Outcome, error) {
	return Outcome{}, nil
}

func sample(name, executor string) named {
	return named{Info{
		Name: name, Executor: executor, Title: "Sample", Package: "sample", Version: "1.0.0", Binary: "sample", Setup: "nothing", Protocol: "none", EnvPrefixes: []string{"SAMPLE_"}, Obeys: []string{"SAMPLE.md"},
		Providers: []string{"anthropic"}, Wires: []wire.Wire{wire.AnthropicMessages},
	}}
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

func TestRegistryMakesAgentsOfAForm(t *testing.T) {
	t.Parallel()
	var r registry
	r.registerForm("form:", func(name string) (Agent, bool) { return sample(name, "FORM"), name != "form:none" })
	if a, ok := r.lookup("form:any"); !ok || a.Info().Name != "form:any" {
		t.Errorf("lookup = %v, %v", a, ok)
	}
	for _, name := range []string{"form:none", "form", "other:any"} {
		if _, ok := r.lookup(name); ok {
			t.Errorf("%q is an agent", name)
		}
	}
	for _, prefix := range []string{"form:", "open", ""} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("form %q was registered", prefix)
				}
			}()
			r.registerForm(prefix, nil)
		}()
	}
}
