package egress

import (
	"context"
	"errors"
	"slices"
	"sync"
)

var (
	errNotAllowed = errors.New("not on the allow-list of this box")
	errWithdrawn  = errors.New("the allow-list was closed")
)

// allowlist is the set of rules in force and the connections made under them.
type allowlist struct {
	mu    sync.Mutex
	rules []Rule
	live  map[*visit]struct{}
}

// visit is one connection in progress.
type visit struct {
	host   string
	port   uint16
	cancel context.CancelCauseFunc
}

func newAllowlist(rules []Rule) *allowlist {
	return &allowlist{rules: rules, live: map[*visit]struct{}{}}
}

// enter admits a connection to host:port. The context it returns ends when the
// rules that admitted it are withdrawn; leave must be called in any case.
func (l *allowlist) enter(ctx context.Context, host string, port uint16) (context.Context, func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.allows(host, port) {
		return nil, nil, errNotAllowed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	v := &visit{host, port, cancel}
	l.live[v] = struct{}{}
	return ctx, func() {
		l.mu.Lock()
		delete(l.live, v)
		l.mu.Unlock()
		cancel(nil)
	}, nil
}

// set replaces the rules and ends every connection they no longer admit.
func (l *allowlist) set(rules []Rule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rules = rules
	for v := range l.live {
		if !l.allows(v.host, v.port) {
			v.cancel(errWithdrawn)
		}
	}
}

func (l *allowlist) allows(host string, port uint16) bool {
	return slices.ContainsFunc(l.rules, func(r Rule) bool { return r.match(host, port) })
}

func parseRules(entries []string) ([]Rule, error) {
	var rules []Rule
	var problems []error
	for _, entry := range entries {
		rule, err := ParseAllow(entry)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		rules = append(rules, rule)
	}
	return rules, errors.Join(problems...)
}
