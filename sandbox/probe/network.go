package probe

import (
	"context"
	"net"
	"strings"
	"sync"
	"time"
)

// Network is what the box can reach.
type Network struct {
	Interfaces []string `json:"interfaces"`
	Routes     []string `json:"routes"`    // lines of the kernel's tables except loopback
	Resolvers  []string `json:"resolvers"` // of /etc/resolv.conf
	// Listening are local addresses on which a process in the box listens.
	Listening []string `json:"listening"`
	// Abstract are unix sockets without a path.
	Abstract []string `json:"abstract_sockets"`
	// Reach is the result of connecting to an address: "ok" or the error.
	Reach map[string]string `json:"reach"`
}

// reachBound is how long one connection may take. Without a route the answer is
// immediate.
const reachBound = 2 * time.Second

// listening is the state of a listening socket in /proc/net/tcp, proc(5).
const listening = "0A"

func inspectNetwork(ctx context.Context, reach []string) Network {
	n := Network{Interfaces: []string{}, Routes: []string{}, Resolvers: []string{}, Listening: []string{}, Abstract: []string{}, Reach: map[string]string{}}
	for _, line := range lines("/proc/net/dev") {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			n.Interfaces = append(n.Interfaces, name)
		}
	}
	for i, line := range lines("/proc/net/route") {
		if i > 0 && strings.TrimSpace(line) != "" {
			n.Routes = append(n.Routes, line)
		}
	}
	for _, line := range lines("/proc/net/ipv6_route") {
		if fields := strings.Fields(line); len(fields) > 0 && fields[len(fields)-1] != "lo" {
			n.Routes = append(n.Routes, line)
		}
	}
	for _, line := range lines("/etc/resolv.conf") {
		if server, ok := strings.CutPrefix(line, "nameserver "); ok {
			n.Resolvers = append(n.Resolvers, server)
		}
	}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		for _, line := range lines(file) {
			if f := strings.Fields(line); len(f) > 3 && f[3] == listening {
				n.Listening = append(n.Listening, f[1])
			}
		}
	}
	for _, line := range lines("/proc/net/unix") {
		if f := strings.Fields(line); len(f) == 8 && strings.HasPrefix(f[7], "@") {
			n.Abstract = list(n.Abstract, f[7])
		}
	}
	n.try(ctx, reach)
	return n
}

// try connects to every address at once.
func (n *Network) try(ctx context.Context, reach []string) {
	results := make([]string, len(reach))
	var all sync.WaitGroup
	for i, address := range reach {
		all.Go(func() {
			d := net.Dialer{Timeout: reachBound}
			c, err := d.DialContext(ctx, "tcp", address)
			if err == nil {
				err = c.Close()
			}
			results[i] = errorName(err)
		})
	}
	all.Wait()
	for i, address := range reach {
		n.Reach[address] = results[i]
	}
}
