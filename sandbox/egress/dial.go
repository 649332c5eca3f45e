package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"sandboxrun/sandbox/egress/tunnel"
)

// Dial connects to a port on the box's loopback, where an agent's server listens. Its data comes from the box.
// Cancelling ctx ends the dial, not the connection.
func (g *Gate) Dial(ctx context.Context, port int) (net.Conn, error) {
	if port < 1 || port > 65535 {
		return nil, fmt.Errorf("dial into the box: port %d", port)
	}
	if err := g.Ready(ctx); err != nil {
		return nil, err
	}
	g.mu.Lock()
	t := g.link
	g.mu.Unlock()
	conn, err := t.dial(ctx, uint16(port))
	if err != nil {
		return nil, fmt.Errorf("dial port %d of the box: %w", port, err)
	}
	return conn, nil
}

func (t *link) dial(ctx context.Context, port uint16) (net.Conn, error) {
	select {
	case t.dials <- struct{}{}:
		defer func() { <-t.dials }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	opened, err := t.session.OpenStream()
	if err != nil {
		return nil, ErrClosed
	}
	st := &tunnel.Stream{Stream: opened}
	stop := context.AfterFunc(ctx, func() { _ = st.Close() })
	err = t.ask(st, port)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = st.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = st.Close()
		return nil, err
	}
	return st, nil
}

// ask sends the request and reads the guest's answer.
func (t *link) ask(st *tunnel.Stream, port uint16) error {
	if err := st.SetDeadline(time.Now().Add(2 * tunnel.HeaderTimeout)); err != nil {
		return err
	}
	if err := (tunnel.Header{Service: tunnel.ServiceDial, Port: port}).Write(st); err != nil {
		return err
	}
	var answer [1]byte
	if _, err := io.ReadFull(st, answer[:]); err != nil {
		return err
	}
	if answer[0] != tunnel.DialOK {
		return errors.New("no program listens on that port")
	}
	return nil
}
