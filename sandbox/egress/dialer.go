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
