package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	for _, a := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.1", "127.255.0.1",
		"169.254.169.254", "169.254.0.1", "172.16.0.1", "172.17.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1",
		"198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::127.0.0.1", "::8.8.8.8",
		"fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "fdff::1", "ff02::1", "ff05::1:3",
		"64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::8.8.8.8", "100::1", "2001::1", "2001:db8::1",
		"2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1", "3fff::1", "5f00::1", "4000::1",
	} {
		if public(netip.MustParseAddr(a)) {
			t.Errorf("%s: public", a)
		}
	}
	for _, a := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "223.255.255.255",
		"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2606:4700::1111", "2a00:1450::1",
	} {
		if !public(netip.MustParseAddr(a)) {
			t.Errorf("%s: not public", a)
		}
	}
	if public(netip.Addr{}) || public(netip.MustParseAddr("2606:4700::1%eth0")) {
		t.Error("no address, or one with a zone: public")
	}
}

func TestHostsOwnAddressesAreNotReachable(t *testing.T) {
	t.Parallel()
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range own {
		p := netip.MustParsePrefix(o.String())
		if ok, err := reachable(p.Addr()); ok || err != nil {
			t.Errorf("%s: %v %v", p.Addr(), ok, err)
		}
	}
}

func TestTheIPv6NetworkAroundTheHostIsNotReachable(t *testing.T) {
	t.Parallel()
	own := prefixes("2a00:1450:4001:8ff::17/64", "198.41.0.4/24", "fd00::5/8", "fe80::1/64", "2606:4700::1111/128", "2a02:908::1/32")
	for address, want := range map[string]bool{
		"2a00:1450:4001:8ff::17": true, "2a00:1450:4001:8ff::1": true, "2a00:1450:4001:8aa::1": true, "2a00:1450:4001:900::1": false,
		"198.41.0.4": true, "198.41.0.5": false, "2606:4700::2222": true, "2606:4700:0:100::1": false, "2a02:908:ffff::1": true, "2a02:909::1": false,
		"8.8.8.8": false,
	} {
		if got := near(own, netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: near %v, want %v", address, got, want)
		}
	}
}

func TestDialerConnectsOnlyToCheckedAddresses(t *testing.T) {
	t.Parallel()
	d := guardedDialer{resolver: names{
		"metadata.test": {"169.254.169.254"},
		"mixed.test":    {"10.0.0.1", "8.8.8.8", "fd00:ec2::254", "::ffff:127.0.0.1"},
	}}
	if _, err := d.lookup(t.Context(), "metadata.test"); !errors.Is(err, errPrivate) {
		t.Errorf("metadata.test: %v", err)
	}
	addrs, err := d.lookup(t.Context(), "mixed.test")
	if err != nil || len(addrs) != 1 || addrs[0].String() != "8.8.8.8" {
		t.Errorf("mixed.test: %v %v", addrs, err)
	}
	if err := d.control(t.Context(), "tcp4", "127.0.0.1:80", nil); !errors.Is(err, errPrivate) {
		t.Errorf("control: %v", err)
	}
	if err := d.control(t.Context(), "tcp4", "8.8.8.8:443", nil); err != nil {
		t.Errorf("control: %v", err)
	}
}

// rebinding answers with a public address once, then with loopback.
type rebinding struct{ asked int }

func (r *rebinding) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	r.asked++
	if r.asked == 1 {
		return []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("8.8.8.8")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func TestRebindingNameIsLookedUpOnce(t *testing.T) {
	t.Parallel()
	r := &rebinding{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // only the chosen address matters, not the connection
	if _, err := (guardedDialer{resolver: r}).dial(ctx, "rebind.test", 80); err == nil || errors.Is(err, errPrivate) {
		t.Errorf("first dial: %v", err)
	}
	if r.asked != 1 {
		t.Errorf("looked up %d times", r.asked)
	}
	if _, err := (guardedDialer{resolver: r}).dial(t.Context(), "rebind.test", 80); !errors.Is(err, errPrivate) {
		t.Errorf("second dial: %v", err)
	}
}
