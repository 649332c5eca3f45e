// Package guest is the main process of a box: it listens on loopback ports there
// and carries every connection through the tunnel to the host.
package guest

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"sandboxrun/sandbox/egress/tunnel"

	"github.com/hashicorp/yamux"
)

const (
	// dialConns is how many connections that the host asked for are carried at a time.
	dialConns = 16

	// closeLinger is how long a client in the box may hold a connection that
	// the host has ended.
	closeLinger = 15 * time.Second
)

// Config says where a guest listens. The zero value is what a box uses.
type Config struct {
	Broker net.Listener   // nil: the broker's port on 127.0.0.1
	Proxy  net.Listener   // nil: the proxy's
	Names  net.PacketConn // nil: 127.0.0.1:53 where the kernel lets an ordinary user bind it
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

type guest struct{ session *yamux.Session }

// open starts a stream of the given service.
func (g *guest) open(s tunnel.Service) (*tunnel.Stream, error) {
	opened, err := g.session.OpenStream()
	if err != nil {
		return nil, err
	}
	st := &tunnel.Stream{Stream: opened}
	if err := (tunnel.Header{Service: s}).Write(st); err != nil {
		_ = st.Close()
		return nil, err
	}
	return st, nil
}

func (g *guest) hello() error {
	st, err := g.open(tunnel.ServiceHello)
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	return st.Close()
}

// forward carries each connection to l over its own stream. At the limit it
// stops accepting, so further clients wait in the kernel's backlog.
func (g *guest) forward(ctx context.Context, l net.Listener, s tunnel.Service, limit int) {
	var wg sync.WaitGroup
	defer wg.Wait()
	places := make(chan struct{}, limit)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		conn, err := l.Accept()
		if err != nil {
			if !retryAccept(ctx, err) {
				return
			}
			<-places
			continue
		}
		wg.Go(func() {
			defer func() { <-places }()
			g.carry(ctx, conn, s)
		})
	}
}

func (g *guest) carry(ctx context.Context, conn net.Conn, s tunnel.Service) {
	local, ok := conn.(tunnel.Duplex)
	if !ok {
		_ = conn.Close()
		return
	}
	st, err := g.open(s)
	if err != nil {
		_ = conn.Close()
		return
	}
	tunnel.Splice(ctx, local, st, tunnel.Bounds{Linger: closeLinger}) //nolint:errcheck // the host knows why it ended
	// When the client vanished, the host has not closed its half yet: hold the
	// place until it has, so that the streams of both sides stay counted.
	if err := st.SetReadDeadline(time.Now().Add(closeLinger)); err == nil {
		_, _ = io.Copy(io.Discard, st)
	}
}
