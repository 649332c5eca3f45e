package agents

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The forms of an agent's two names.
var (
	shortName    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	executorName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,31}$`)
)

// registry holds agents by both their names.
type registry struct {
	mu     sync.RWMutex
	byName map[string]Agent
	forms  map[string]func(name string) (Agent, bool) // by prefix
}

var registered registry

// Register makes an agent known. Adapters call it from init; it panics on an
// Info that does not hold together and on a name that is taken.
func Register(a Agent) { registered.register(a) }

// RegisterForm makes a form of names known: a name that begins with prefix, such
// as "acp:", is an agent by itself, which find makes. It panics on a prefix that
// is taken and on one that the name of an agent could begin with.
func RegisterForm(prefix string, find func(name string) (Agent, bool)) {
	registered.registerForm(prefix, find)
}

// Lookup finds an agent by its short name ("claude") or by its executor name
// ("CLAUDE_CODE"), each spelled exactly so, or makes the one that a name of a
// registered form stands for.
func Lookup(name string) (Agent, bool) { return registered.lookup(name) }

// All returns every registered agent, sorted by short name.
func All() []Agent { return registered.all() }

func (r *registry) register(a Agent) {
	info := a.Info()
	if err := info.validate(); err != nil {
		panic(fmt.Sprintf("agents: register %q: %v", info.Name, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName == nil {
		r.byName = map[string]Agent{}
	}
	for _, name := range []string{info.Name, info.Executor} {
		if _, taken := r.byName[name]; taken {
			panic(fmt.Sprintf("agents: register %q: name %s is taken", info.Name, name))
		}
		r.byName[name] = a
	}
}

func (r *registry) lookup(name string) (Agent, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if a, ok := r.byName[name]; ok {
		return a, true
	}
	for prefix, find := range r.forms {
		if strings.HasPrefix(name, prefix) {
			return find(name)
		}
	}
	return nil, false
}

func (r *registry) registerForm(prefix string, find func(name string) (Agent, bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.forms[prefix]; taken || !strings.HasSuffix(prefix, ":") {
		panic(fmt.Sprintf("agents: register form %q: it is taken or does not end with a colon", prefix))
	}
	if r.forms == nil {
		r.forms = map[string]func(name string) (Agent, bool){}
	}
	r.forms[prefix] = find
}

func (r *registry) all() []Agent {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []Agent
	for name, a := range r.byName {
		if name == a.Info().Name {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b Agent) int { return strings.Compare(a.Info().Name, b.Info().Name) })
	return list
}

func (i Info) validate() error {
	switch {
	case !shortName.MatchString(i.Name):
		return fmt.Errorf("short name %q does not match %s", i.Name, shortName)
	case !executorName.MatchString(i.Executor):
		return fmt.Errorf("executor name %q does not match %s", i.Executor, executorName)
	}
	for field, value := range map[string]string{
		"title": i.Title, "package": i.Package, "version": i.Version, "binary": i.Binary, "setup": i.Setup, "protocol": i.Protocol,
	} {
		if value == "" {
			return fmt.Errorf("no %s", field)
		}
	}
	if len(i.Providers) == 0 || len(i.Wires) == 0 {
		return errors.New("no provider or no wire")
	}
	if len(i.EnvPrefixes) == 0 || len(i.Obeys) == 0 {
		return errors.New("no prefix of its environment, or nothing it obeys in a repository")
	}
	if i.Vendor != nil && !slices.Contains(i.Providers, i.Vendor.Name) {
		return fmt.Errorf("vendor's provider %s is not among its providers", i.Vendor.Name)
	}
	return nil
}
