package runner

import (
	"fmt"
	"slices"
	"strings"

	"sandboxrun/agents"
)

// ProviderFor picks the first of the named providers that is configured with a
// base_url and speaks one of the wires, and of those wires the first it speaks.
// Both lists are an agent's, the preferred first. It looks at no key. The error
// lists what to configure.
func (c Config) ProviderFor(names []string, wires []agents.Wire) (name string, wire agents.Wire, err error) {
	var why []string
	for _, name := range names {
		p := c.Providers[name]
		served := p.served(name)
		switch i := slices.IndexFunc(wires, func(w agents.Wire) bool { return slices.Contains(served, w) }); {
		case p.BaseURL == "" && len(served) == 0:
			why = append(why, fmt.Sprintf("set providers.%s.base_url and providers.%s.wires (of %s)", name, name, listed(wires)))
		case p.BaseURL == "":
			why = append(why, fmt.Sprintf("set providers.%s.base_url to an API that speaks %s", name, listed(served)))
		case i < 0:
			why = append(why, fmt.Sprintf("provider %s speaks %s, not %s", name, listed(served), listed(wires)))
		default:
			return name, wires[i], nil
		}
	}
	return "", "", fmt.Errorf("no provider is configured for it: %s", strings.Join(why, "; or "))
}
