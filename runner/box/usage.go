package box

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox/egress"
)

// Bounds of the lists of a result: names that were refused and connected to, and reasons for refused model requests.
const (
	maxDenied      = 50
	maxConnections = 200
	maxRefused     = 20
)

// Usage counts what the gates of a run's boxes let through and refused. They
// report from goroutines of their own.
type Usage struct {
	mu     sync.Mutex
	total  document.AgentUsage
	denied map[string]string // refused names, with the private address behind a name that is allowed
	// connections has one entry for each target and phase; more counts connections to targets beyond the bound.
	connections map[[2]string]*document.Connection
	more        int
	// refused has why model requests were refused that the broker would forward otherwise.
	refused []string
	// unreached is why the provider did not answer the latest request; empty when it did.
	unreached string
}

// connect counts a connection that the proxy of a box carried, or tried to. A
// record without a name sums up connections beyond those that are recorded.
func (u *Usage) connect(role string, r egress.Record) {
	u.mu.Lock()
	defer u.mu.Unlock()
	phase := "verify"
	if role == RoleAgent {
		phase = "prepare"
	}
	c := u.connections[[2]string{phase, r.Name}]
	if c == nil {
		if r.Name == "" || len(u.connections) >= maxConnections {
			u.more += r.Count
			return
		}
		if u.connections == nil {
			u.connections = map[[2]string]*document.Connection{}
		}
		c = &document.Connection{Name: r.Name, Phase: phase}
		u.connections[[2]string{phase, r.Name}] = c
	}
	c.Count += r.Count
	if r.Reason != "" {
		c.Failed += r.Count
	}
	c.RequestBytes += r.RequestBytes
	c.ResponseBytes += r.ResponseBytes
}

// Connections lists the targets that boxes connected to, by phase and name, and
// counts connections to further ones.
func (u *Usage) Connections() (list []document.Connection, more int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range u.connections {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b document.Connection) int {
		return cmp.Or(strings.Compare(a.Phase, b.Phase), strings.Compare(a.Name, b.Name))
	})
	return list, u.more
}

// Total sums up the requests to the model.
func (u *Usage) Total() document.AgentUsage {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.total
}

func (u *Usage) deny(name, address string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.denied == nil {
		u.denied = map[string]string{}
	}
	if name != "" && len(u.denied) < maxDenied {
		u.denied[name] = address
	}
}

// refuse counts a model request that asked for more than the run may have.
func (u *Usage) refuse(name, reason string) {
	u.deny(name, "")
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.refused) < maxRefused && !slices.Contains(u.refused, reason) {
		u.refused = append(u.refused, reason)
	}
}

// Refused lists why model requests were refused that asked for more than the run may have, in the order of the first of
// each.
func (u *Usage) Refused() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.refused)
}

func (u *Usage) count(r egress.Record) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.unreached = r.Unreached
	t := &u.total
	t.Requests++
	t.InputTokens += r.InputTokens
	t.OutputTokens += r.OutputTokens
	t.CacheReadTokens += r.CacheReadTokens
	t.CacheWriteTokens += r.CacheWriteTokens
	t.RequestBytes += r.RequestBytes
	t.ResponseBytes += r.ResponseBytes
}

// Unreached is why the provider gave no answer to the latest model request; "" when it did, or when there was none.
func (u *Usage) Unreached() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.unreached
}

// Names lists what was requested and refused, sorted.
func (u *Usage) Names() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string{}, slices.Sorted(maps.Keys(u.denied))...)
}

// Private describes those of the refused names that an allow-list holds and that
// stand for a private address, sorted.
func (u *Usage) Private() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var list []string
	for _, name := range slices.Sorted(maps.Keys(u.denied)) {
		if address := u.denied[name]; address != "" {
			list = append(list, fmt.Sprintf("%s stands for the private address %s", name, address))
		}
	}
	return list
}
