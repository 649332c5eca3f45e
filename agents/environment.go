package agents

import (
	"maps"
	"slices"
	"strings"

	"sandboxrun/sandbox"
)

// environment is the environment of a CLI: defaults that a profile may change,
// the profile's own, and over them what nobody may change. HOME and the way to
// the box's own loopback are always among the last.
func environment(t Turn, defaults, fixed map[string]string, drop ...string) []string {
	env := maps.Clone(defaults)
	if env == nil {
		env = map[string]string{}
	}
	for _, pair := range t.Env {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	maps.Copy(env, fixed)
	env["HOME"] = sandbox.Home
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env[name] = "127.0.0.1,localhost,::1"
	}
	for _, name := range drop {
		delete(env, name)
	}
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
