package runner

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/sandbox/egress"
)

// maxDenied bounds the refused names of a result.
const maxDenied = 50

// usage counts what the gates of a run's boxes let through and refused. They
// report from goroutines of their own.
type usage struct {
	mu     sync.Mutex
	total  document.AgentUsage
	denied map[string]string // refused names, with the private address behind a name that is allowed
}

func (u *usage) ofAgent() document.AgentUsage {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.total
}

func (u *usage) deny(name, address string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.denied == nil {
		u.denied = map[string]string{}
	}
	if name != "" && len(u.denied) < maxDenied {
		u.denied[name] = address
	}
}

func (u *usage) count(r egress.Record) {
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

// names lists what was requested and refused, sorted.
func (u *usage) names() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string{}, slices.Sorted(maps.Keys(u.denied))...)
}

// private describes those of the refused names that an allow-list holds and that
// stand for a private address, sorted.
func (u *usage) private() []string {
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

// record writes one answer or refusal of a gate to the journal.
func (bs *boxes) record(r egress.Record) {
	switch r.Kind {
	case egress.KindDenied:
		bs.usage.deny(r.Name, r.Address)
		bs.Log.Emit("", journal.EgressDenied{Name: r.Name, Reason: r.Reason, Method: r.Method, Count: r.Count, Address: r.Address})
	case egress.KindConnect:
		bs.Log.Emit("", journal.ProxyUsage{Source: journal.UsageOfProxy, Name: r.Name, Reason: r.Reason,
			RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes, DurationMS: r.Duration.Milliseconds()})
	default:
		bs.usage.count(r)
		bs.Log.Emit("", journal.BrokerUsage{Source: journal.UsageOfBroker, Provider: r.Provider, Method: r.Method, Path: r.Path,
			Status: r.Status, Reason: r.Reason, Model: r.Model, RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes,
			InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, CacheReadTokens: r.CacheReadTokens,
			CacheWriteTokens: r.CacheWriteTokens, DurationMS: r.Duration.Milliseconds()})
	}
}
