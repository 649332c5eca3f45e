package runner

import (
	"fmt"
	"net/url"
	"sort"
	"strings"
	"sync"

	"sandboxrun/sandbox/egress"
)

// maxDenied bounds the refused names of a result.
const maxDenied = 50

// brokerUsage counts what the broker saw. It is fed from the gates' goroutines.
type brokerUsage struct {
	mu     sync.Mutex
	total  AgentUsage
	denied map[string]bool
}

func (u *brokerUsage) agent() AgentUsage {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.total
}

// names lists what was asked for and refused, sorted.
func (u *brokerUsage) names() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := []string{}
	for n := range u.denied {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// record writes one answer or refusal of a gate to the journal.
func (x *run) record(r egress.Record) {
	if r.Kind == egress.KindDenied {
		x.usage.mu.Lock()
		if x.usage.denied == nil {
			x.usage.denied = map[string]bool{}
		}
		if r.Name != "" && len(x.usage.denied) < maxDenied {
			x.usage.denied[r.Name] = true
		}
		x.usage.mu.Unlock()
		x.log.emit("", EventEgressDenied, map[string]any{"name": r.Name, "reason": r.Reason, "method": r.Method, "count": r.Count})
		return
	}
	if r.Kind == egress.KindConnect {
		x.log.emit("", EventUsage, map[string]any{"source": "proxy", "name": r.Name, "reason": r.Reason,
			"request_bytes": r.RequestBytes, "response_bytes": r.ResponseBytes, "duration_ms": r.Duration.Milliseconds()})
		return
	}
	x.usage.mu.Lock()
	t := &x.usage.total
	t.Requests++
	t.InputTokens += r.InputTokens
	t.OutputTokens += r.OutputTokens
	t.CacheReadTokens += r.CacheReadTokens
	t.CacheWriteTokens += r.CacheWriteTokens
	t.RequestBytes += r.RequestBytes
	t.ResponseBytes += r.ResponseBytes
	x.usage.mu.Unlock()
	x.log.emit("", EventUsage, map[string]any{"source": "broker", "provider": r.Provider, "method": r.Method, "path": r.Path,
		"status": r.Status, "reason": r.Reason, "model": r.Model, "request_bytes": r.RequestBytes, "response_bytes": r.ResponseBytes,
		"input_tokens": r.InputTokens, "output_tokens": r.OutputTokens, "cache_read_tokens": r.CacheReadTokens,
		"cache_write_tokens": r.CacheWriteTokens, "duration_ms": r.Duration.Milliseconds()})
}

// routes are the provider's calls the working box may make: those of the one
// wire the agent was planned with.
func (x *run) routes() ([]egress.Route, error) {
	if x.plan.Agent == nil {
		return nil, nil
	}
	name := x.plan.Agent.Provider
	base, err := url.Parse(x.r.o.Config.Providers[name].BaseURL)
	if err != nil {
		return nil, fmt.Errorf("provider %s: base_url: %w", name, err)
	}
	route, err := egress.NewRoute(name, base, x.key, egress.Wire(x.plan.Agent.Wire))
	if err != nil {
		return nil, err
	}
	return []egress.Route{route}, nil
}

func (x *run) brokerURL() string { return egress.BrokerURL(x.plan.Agent.Provider) }

func (x *run) providerName() string {
	if x.plan.Agent == nil {
		return ""
	}
	return x.plan.Agent.Provider
}

// tellDenied says that something in a box asked for what it may not have. It
// changes no verdict: the asking was in vain.
func (x *run) tellDenied() {
	names := x.usage.names()
	if len(names) == 0 {
		return
	}
	x.findings.add(note, Issue{Type: IssueEnv, Code: "egress_denied",
		Description:     "refused on the way out of the box: " + clip(strings.Join(names, ", "), 1000),
		SuggestedAction: "hosts that setup commands need belong in box.network.allow"})
}
