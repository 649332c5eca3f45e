package runner

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
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

// deniedIssue reports that something in a box asked for what it may not have. It
// changes no verdict: the request was in vain. ok is false where nothing did.
func (u *usage) deniedIssue() (i found, ok bool) {
	names := u.names()
	if len(names) == 0 {
		return found{}, false
	}
	i = issue(document.CodeEgressDenied, "refused on the way out of the box: "+excerpt.Clip(strings.Join(names, ", "), 1000))
	var private []string
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, name := range names {
		if address := u.denied[name]; address != "" {
			private = append(private, fmt.Sprintf("%s stands for the private address %s", name, address))
		}
	}
	if len(private) > 0 {
		action := excerpt.Clip(strings.Join(private, ", "), 1000) + "; box.network.allow_private in the configuration opens private addresses to setup commands"
		if len(private) < len(names) {
			action = i.SuggestedAction + "; " + action
		}
		i = i.withAction(action)
	}
	return i, true
}

// record writes one answer or refusal of a gate to the journal.
func (bs *boxes) record(r egress.Record) {
	switch r.Kind {
	case egress.KindDenied:
		bs.usage.deny(r.Name, r.Address)
		bs.log.Emit("", journal.EgressDenied{Name: r.Name, Reason: r.Reason, Method: r.Method, Count: r.Count, Address: r.Address})
	case egress.KindConnect:
		bs.log.Emit("", journal.ProxyUsage{Source: journal.UsageOfProxy, Name: r.Name, Reason: r.Reason,
			RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes, DurationMS: r.Duration.Milliseconds()})
	default:
		bs.usage.count(r)
		bs.log.Emit("", journal.BrokerUsage{Source: journal.UsageOfBroker, Provider: r.Provider, Method: r.Method, Path: r.Path,
			Status: r.Status, Reason: r.Reason, Model: r.Model, RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes,
			InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, CacheReadTokens: r.CacheReadTokens,
			CacheWriteTokens: r.CacheWriteTokens, DurationMS: r.Duration.Milliseconds()})
	}
}

// modelRoutes are the provider's calls that the working box may make: those of
// the one wire the agent was planned with.
func (r *Runner) modelRoutes(p *plan.Plan, key egress.KeyFunc) ([]egress.Route, error) {
	if p.Agent == nil {
		return nil, nil
	}
	name := p.Agent.Provider
	base, err := url.Parse(r.o.Config.Providers[name].BaseURL)
	if err != nil {
		return nil, fmt.Errorf("provider %s: base_url: %w", name, err)
	}
	route, err := egress.NewRoute(name, base, key, p.Agent.Wire)
	if err != nil {
		return nil, err
	}
	return []egress.Route{route}, nil
}
