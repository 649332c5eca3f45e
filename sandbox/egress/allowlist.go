package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sandboxrun/sandbox/egress/tunnel"
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

// Rule is one entry of an allow-list: a host name, a suffix of host names or an
// address, with a port or the default ports 443 and 80.
type Rule struct {
	host   string // lower case; an address in its canonical form
	suffix bool   // host matches every name below it, not itself
	port   uint16 // 0: 443 and 80
}

// String returns the entry in its canonical form.
func (r Rule) String() string {
	s := r.host
	if r.suffix {
		s = "*." + s
	}
	if r.port == 0 {
		return s
	}
	return net.JoinHostPort(s, strconv.Itoa(int(r.port)))
}

var (
	errHost     = errors.New("not a host name")
	errNumber   = errors.New("looks like an address in an unusual form")
	errPort     = errors.New("not a port")
	errWildcard = errors.New("a wildcard replaces whole labels, as in *.example.com")

	hostName   = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
	numericEnd = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)
)

// ParseAllow reads one entry of box.network.allow: "host", "host:port",
// "*.suffix" or "*.suffix:port", where host may also be a public IP address in
// its usual form (IPv6 in brackets when a port follows). The suffix form does
// not cover the suffix itself. Errors say what to write instead.
func ParseAllow(entry string) (Rule, error) {
	fail := func(err error) (Rule, error) { return Rule{}, fmt.Errorf("allow entry %q: %w", printable(entry), err) }
	if strings.Contains(entry, "/") {
		return fail(errors.New("want a host name, not a url"))
	}
	name, suffix := strings.CutPrefix(entry, "*.")
	if strings.Contains(name, "*") {
		return fail(errWildcard)
	}
	host, port, err := splitTarget(name, 0)
	if err != nil {
		return fail(err)
	}
	_, literal := netip.ParseAddr(host)
	if suffix && (literal == nil || !strings.Contains(host, ".")) {
		return fail(errWildcard)
	}
	if addr, err := netip.ParseAddr(host); err == nil && !public(addr) {
		return fail(errPrivate)
	}
	return Rule{host: host, suffix: suffix, port: port}, nil
}

func (r Rule) match(host string, port uint16) bool {
	if r.port != port && (r.port != 0 || port != 443 && port != 80) {
		return false
	}
	if r.suffix {
		return strings.HasSuffix(host, "."+r.host)
	}
	return host == r.host
}

// splitTarget reads host or host:port into canonical form. It accepts only plain host names and canonical addresses,
// not forms such as 0x7f.1 or 2130706433, which resolvers turn into addresses.
func splitTarget(s string, defaultPort uint16) (host string, port uint16, err error) {
	host, port = s, defaultPort
	if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
		return addr.Unmap().String(), port, nil
	}
	bracketed := strings.HasPrefix(s, "[")
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		n, err := strconv.ParseUint(s[i+1:], 10, 16)
		if err != nil || n == 0 || s[i+1] == '0' {
			return "", 0, errPort
		}
		host, port = s[:i], uint16(n)
	}
	if bracketed {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" && addr.Is6() == bracketed {
		return addr.Unmap().String(), port, nil
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	switch {
	case bracketed || len(host) > tunnel.MaxName || !hostName.MatchString(host):
		return "", 0, errHost
	case numericEnd.MatchString(host):
		return "", 0, errNumber
	}
	return host, port, nil
}
