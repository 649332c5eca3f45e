package box

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox/egress"
)

// maxDenied bounds the refused names of a result.
const maxDenied = 50

// Usage counts what the gates of a run's boxes let through and refused. They
// report from goroutines of their own.
type Usage struct {
	mu     sync.Mutex
	total  document.AgentUsage
	denied map[string]string // refused names, with the private address behind a name that is allowed
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

func (u *Usage) count(r egress.Record) {
	u.mu.Lock()
	defer u.mu.Unlock()
	t := &u.total
	t.Requests++
	t.InputTokens += r.InputTokens
	t.OutputTokens += r.OutputTokens
	t.CacheReadTokens += r.CacheReadTokens
	t.CacheWriteTokens += r.CacheWriteTokens
	t.RequestBytes += r.RequestBytes
	t.ResponseBytes += r.ResponseBytes
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
