package guest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"net"
	"strconv"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"

	"sandboxrun/sandbox/egress/tunnel"
)

// Config says where a guest listens. The zero value is what a box uses.
type Config struct {
	Broker net.Listener   // nil: the broker's port on 127.0.0.1
	Proxy  net.Listener   // nil: the proxy's
	Names  net.PacketConn // nil: 127.0.0.1:53 where the kernel lets an ordinary user bind it
}

// listen opens what the caller did not bring.
func (c *Config) listen(ctx context.Context) error {
	var config net.ListenConfig
	for _, l := range []struct {
		at   *net.Listener
		port int
	}{{&c.Broker, tunnel.BrokerPort}, {&c.Proxy, tunnel.ProxyPort}} {
		if *l.at != nil {
			continue
		}
		listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort(tunnel.Loopback, strconv.Itoa(l.port)))
		if err != nil {
			c.close()
			return fmt.Errorf("listen in the box: %w", err)
		}
		*l.at = listener
	}
	if c.Names == nil {
		// Only reports names that would be lost otherwise; where port 53 needs
		// a capability the box does not have, there is nothing to report with.
		if names, err := config.ListenPacket(ctx, "udp4", net.JoinHostPort(tunnel.Loopback, "53")); err == nil {
			c.Names = names
		}
	}
	return nil
}

func (c *Config) close() {
	for _, l := range []net.Listener{c.Broker, c.Proxy} {
		if l != nil {
			_ = l.Close()
		}
	}
	if c.Names != nil {
		_ = c.Names.Close()
	}
}

// Run carries the box's connections over stdio, the container's standard
// input and output, until the other end closes it or ctx ends. Closing stdio
// must end a Read under way. It closes stdio and every listener, and returns
// nil when the tunnel was ended by the other side.
func Run(ctx context.Context, stdio io.ReadWriteCloser, cfg Config) error {
	if err := cfg.listen(ctx); err != nil {
		_ = stdio.Close()
		return err
	}
	session, err := yamux.Client(stdio, tunnel.Config(tunnel.GuestLinger))
	if err != nil {
		cfg.close()
		_ = stdio.Close()
		return fmt.Errorf("start tunnel: %w", err)
	}
	g := &guest{session: session}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	var wg sync.WaitGroup
	wg.Go(func() { g.forward(ctx, cfg.Broker, tunnel.ServiceBroker, tunnel.BrokerConns) })
	wg.Go(func() { g.forward(ctx, cfg.Proxy, tunnel.ServiceProxy, tunnel.ProxyConns) })
	wg.Go(func() { g.dials(ctx) })
	if cfg.Names != nil {
		wg.Go(func() { g.names(cfg.Names) })
	}

	err = g.hello()
	if err == nil {
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-session.CloseChan():
		}
	} else if session.IsClosed() {
		err = nil // over before it began
	}
	cancel()
	cfg.close()
	_ = session.Close() // always nil
	wg.Wait()
	return err
}

// guestMemory is the Go heap the guest aims to stay under, in bytes. It counts
// against the box: two windows' worth for each connection it carries is less.
const guestMemory = 64 << 20

// Main makes this process a box's main process: it keeps itself small,
// takes standard input and output as the tunnel and runs [Run] until the
// tunnel or ctx ends. It changes process-wide settings, so nothing else may run
// in the process.
//
// It is best started without an init above it. As process 1 it collects
// orphans itself, Linux spares it the SIGKILL of its own box (gVisor does not),
// and no other process holds the tunnel's descriptors where the box could write
// into them. It survives every other signal the box can send.
func Main(ctx context.Context) error {
	runtime.GOMAXPROCS(2) // every P and its threads count against the box's pids
	debug.SetMemoryLimit(guestMemory)
	debug.SetGCPercent(50)
	// Programs in the box run as the same user. Not being dumpable makes
	// /proc/<pid>/fd root's, so that a stray "> /proc/1/fd/1" does not write
	// into the tunnel: prctl(2), PR_SET_DUMPABLE.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("protect guest: %w", err)
	}
	if err := ignoreSignals(); err != nil {
		return fmt.Errorf("protect guest: %w", err)
	}
	tunnel, err := openStdio()
	if err != nil {
		return err
	}
	if os.Getpid() == 1 {
		ctx, cancel := context.WithCancel(ctx)
		var reaper sync.WaitGroup
		reaper.Go(func() { reap(ctx) })
		defer reaper.Wait()
		defer cancel()
	}
	return Run(ctx, tunnel, Config{})
}

type stdio struct {
	io.Reader
	io.Writer
	close func() error
}

func (s stdio) Close() error { return s.close() }

// openStdio takes over descriptors 0 and 1. They are made non-blocking first:
// only then does closing one end a Read under way.
func openStdio() (io.ReadWriteCloser, error) {
	for _, fd := range []int{0, 1} {
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("open tunnel on standard input and output: %w", err)
		}
	}
	in, out := os.NewFile(0, "tunnel input"), os.NewFile(1, "tunnel output")
	return stdio{in, out, func() error { return errors.Join(in.Close(), out.Close()) }}, nil
}
