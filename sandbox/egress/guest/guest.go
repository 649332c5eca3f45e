// Package guest is the main process of a box: it listens on loopback ports there
// and carries every connection through the tunnel to the host.
package guest

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"sandboxrun/sandbox/egress/tunnel"

	"errors"
	"syscall"

	"github.com/hashicorp/yamux"
)

const (
	// closeLinger is how long a client in the box may hold a connection that the host has ended.
	closeLinger = 15 * time.Second
)

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
		return fmt.Errorf("send hello: %w", err)
	}
	return st.Close()
}

// forward carries each connection to l over its own stream. At the limit it stops accepting, so further clients wait
// in the kernel's backlog.
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
	tunnel.Splice(ctx, local, st, tunnel.Bounds{Linger: closeLinger}) //nolint:errcheck // the host records why it ended
	// When the client vanished, the host has not closed its half yet: keep the place until it has, so that both sides
	// count the stream.
	if err := st.SetReadDeadline(time.Now().Add(closeLinger)); err == nil {
		_, _ = io.Copy(io.Discard, st)
	}
}

// retryAccept reports whether accepting continues after err: a client that gave up before it was accepted, or, after a
// pause, a lack of free descriptors.
func retryAccept(ctx context.Context, err error) bool {
	switch {
	case errors.Is(err, syscall.ECONNABORTED):
		return ctx.Err() == nil
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		select {
		case <-time.After(acceptPause):
			return true
		case <-ctx.Done():
		}
	}
	return false
}

// acceptPause is the pause before accepting again after running out of descriptors.
const acceptPause = 100 * time.Millisecond
