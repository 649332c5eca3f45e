package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

const (
	dialTimeout = 15 * time.Second

	// maxAddresses bounds how many addresses of one name are tried.
	maxAddresses = 4
)

// Resolver looks host names up; [net.DefaultResolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// guardedDialer connects to host names by addresses it has looked up and checked itself. It connects to the very
// address it checked, so a name that resolves differently the second time gains nothing.
type guardedDialer struct {
	resolver     Resolver
	allowPrivate bool
}

func (d guardedDialer) dial(ctx context.Context, host string, port uint16) (net.Conn, error) {
	addrs, err := d.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: dialTimeout, ControlContext: d.control}
	var failed error
	for _, addr := range addrs {
		conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(addr, port).String())
		if err == nil {
			return conn, nil
		}
		failed = err
	}
	return nil, failed
}

// lookup returns the addresses of host that may be connected to; at least one.
func (d guardedDialer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs := []netip.Addr{}
	if literal, err := netip.ParseAddr(host); err == nil {
		addrs = append(addrs, literal)
	} else {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		if addrs, err = d.resolver.LookupNetIP(ctx, "ip", host); err != nil {
			return nil, fmt.Errorf("look up %s: %w", host, err)
		}
	}
	var good []netip.Addr
	for _, addr := range addrs {
		ok, err := d.permits(addr)
		if err != nil {
			return nil, err
		}
		if ok && len(good) < maxAddresses {
			good = append(good, addr.Unmap())
		}
	}
	if len(good) == 0 {
		if len(addrs) == 0 {
			return nil, fmt.Errorf("%s resolves to %w", host, errPrivate)
		}
		return nil, &privateError{host: host, address: addrs[0].Unmap()}
	}
	return good, nil
}

func (d guardedDialer) permits(addr netip.Addr) (bool, error) {
	if d.allowPrivate {
		return addr.IsValid(), nil
	}
	return reachable(addr)
}

// control is the final check, on the very address the kernel is about to connect to.
func (d guardedDialer) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return errors.Join(errPrivate, err)
	}
	ok, err := d.permits(to.Addr())
	if err == nil && !ok {
		err = errPrivate
	}
	return err
}

var errPrivate = errors.New("a private, local or reserved address")

// privateError carries the address that makes an allowed host unreachable. Its text reaches the box as well, so it
// does not name the address: the box must not learn addresses of the host's network.
type privateError struct {
	host    string
	address netip.Addr
}

func (e *privateError) Error() string { return e.host + " resolves to " + errPrivate.Error() }

// Unwrap makes it a refusal, not a failure.
func (e *privateError) Unwrap() error { return errPrivate }

// reserved lists what is not the public internet: the IANA special-purpose address registries
// (iana.org/assignments/iana-ipv4-special-registry and -ipv6-), and one public address from which clouds serve
// metadata.
var reserved = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
	"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", // Azure's host agent
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

var (
	// globalUnicast is all that is assigned to the public IPv6 internet, so that loopback, link-local, unique-local
	// and multicast need no entry.
	globalUnicast = netip.MustParsePrefix("2000::/3")
	// nat64 carries an IPv4 address in its last four bytes, RFC 6052.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, t := range texts {
		list = append(list, netip.MustParsePrefix(t))
	}
	return list
}

// public reports whether a belongs to the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if !a.IsValid() || a.Zone() != "" || a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// siteBits is the length of the prefix that a network of people or of an office
// commonly gets of the public IPv6 internet (RIPE-690). Its machines have public
// addresses and no translation before them, so services meant for the network
// listen there.
const siteBits = 56

// reachable says whether the box may be connected to a: a public address that
// is neither one of this host's own nor in the IPv6 network around it.
func reachable(a netip.Addr) (bool, error) {
	if !public(a) {
		return false, nil
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false, err
	}
	var own []netip.Prefix
	for _, o := range addrs {
		if p, err := netip.ParsePrefix(o.String()); err == nil {
			own = append(own, p)
		}
	}
	return !near(own, a.Unmap()), nil
}

// near says whether a is one of a host's own addresses, or in the network that
// one of its public IPv6 addresses belongs to.
func near(own []netip.Prefix, a netip.Addr) bool {
	for _, p := range own {
		host := p.Addr().Unmap()
		if host == a {
			return true
		}
		if !host.Is6() || !public(host) {
			continue
		}
		if site, err := host.Prefix(min(p.Bits(), siteBits)); err == nil && site.Contains(a) {
			return true
		}
	}
	return false
}
