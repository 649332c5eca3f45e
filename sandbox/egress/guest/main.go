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

// Config holds the guest's listeners. A box uses the zero value.
type Config struct {
	Broker net.Listener   // nil: the broker's port on 127.0.0.1
	Proxy  net.Listener   // nil: the proxy's
	Names  net.PacketConn // nil: 127.0.0.1:53 where the kernel lets an unprivileged user bind it
}

// listen opens the listeners the caller did not provide.
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
		// Names are only reported; where port 53 needs a capability the box lacks, they are not.
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

// Run carries the box's connections over stdio, the container's standard input and output, until the other end closes
// it or ctx ends. Closing stdio must end a Read in progress. It closes stdio and every listener, and returns nil when
// the other side ended the tunnel.
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
		err = nil // the tunnel ended before it began
	}
	cancel()
	cfg.close()
	_ = session.Close() // always nil
	wg.Wait()
	return err
}

// guestMemory is the Go heap limit of the guest, in bytes. It counts against the box's memory. Two windows for each
// connection fit in it.
const guestMemory = 64 << 20

// Main makes this process a box's main process: it limits its own size, takes standard input and output as the tunnel
// and runs [Run] until the tunnel or ctx ends. It changes process-wide settings, so nothing else may run in the
// process.
//
// Start it without an init above it. As process 1 it reaps orphans itself, Linux discards SIGKILL from its own box
// (gVisor does not), and no other process holds the tunnel's descriptors where the box could write into them. It
// survives every other signal the box can send.
func Main(ctx context.Context) error {
	runtime.GOMAXPROCS(2) // every P and its threads count against the box's pids
	debug.SetMemoryLimit(guestMemory)
	debug.SetGCPercent(50)
	// Programs in the box run as the same user. An undumpable process's /proc/<pid>/fd belongs to root, so that a
	// stray "> /proc/1/fd/1" does not write into the tunnel: prctl(2), PR_SET_DUMPABLE.
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

// openStdio takes over descriptors 0 and 1. It makes them non-blocking first: only then does closing one end a Read in
// progress.
func openStdio() (io.ReadWriteCloser, error) {
	for _, fd := range []int{0, 1} {
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("open tunnel on standard input and output: %w", err)
		}
	}
	in, out := os.NewFile(0, "tunnel input"), os.NewFile(1, "tunnel output")
	return stdio{in, out, func() error { return errors.Join(in.Close(), out.Close()) }}, nil
}
