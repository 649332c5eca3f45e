package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"sandboxrun/sandbox/egress/tunnel"

	"github.com/hashicorp/yamux"
)

// Serve answers the guest at the other end of conn until the tunnel ends, ctx ends or Close is called, closes conn and
// waits for all it started. Closing conn must end a Read or Write in progress. It returns nil when the guest left or
// Close was called, ctx's cause when that ended it, and otherwise the guest's violation.
func (g *Gate) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	session, err := yamux.Server(&frames{ReadWriteCloser: conn, left: g.limits.TunnelBytes}, tunnel.Config(tunnel.HostLinger))
	if err != nil {
		_ = conn.Close()
		return fmt.Errorf("start tunnel: %w", err)
	}
	t := &link{
		gate: g, session: session,
		places: make(chan struct{}, g.limits.Streams),
		names:  make(chan struct{}, 1),
		dials:  make(chan struct{}, tunnel.AcceptBacklog/2),
	}
	if !g.begin(t) {
		_ = session.Close()
		return ErrClosed
	}
	t.broker, t.proxy = newHTTPService(g.broker), newHTTPService(g.proxy)

	var wrong error // the guest's violation
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wrong = t.accept()
	}()
	select {
	case <-ended:
		err = wrong
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-g.closed:
	}
	_ = session.Close()
	<-ended
	t.broker.close()
	t.proxy.close()
	g.proxy.tunnels.Wait()
	t.work.Wait()
	g.transport.CloseIdleConnections()
	g.record.flush()
	close(g.ended)
	return err
}

// begin makes t the gate's one tunnel.
func (g *Gate) begin(t *link) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.serving {
		return false
	}
	g.serving, g.link = true, t
	return true
}

// accept takes streams until the session ends. yamux keeps a stream until both sides have closed it; our guest closes
// its side, so one that accumulates twice the limit is not ours.
func (t *link) accept() error {
	for {
		accepted, err := t.session.AcceptStream()
		switch {
		case err != nil && isHangup(err):
			return nil
		case err != nil:
			return fmt.Errorf("tunnel: %w", err)
		case t.session.NumStreams() > 2*t.gate.limits.Streams:
			return fmt.Errorf("tunnel: %w: too many streams", errFrame)
		}
		st := &tunnel.Stream{Stream: accepted}
		select {
		case t.places <- struct{}{}:
			st.Release = func() { <-t.places }
			t.work.Go(func() { t.dispatch(st) })
		default:
			_ = st.Close()
		}
	}
}

// isHangup reports whether err means that the other end of the tunnel has gone.
func isHangup(err error) bool {
	for _, gone := range []error{
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, os.ErrClosed, net.ErrClosed,
		syscall.EPIPE, syscall.ECONNRESET, yamux.ErrSessionShutdown,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// dispatch reads a stream's header and hands the stream to its service, which closes it.
func (t *link) dispatch(st *tunnel.Stream) {
	if err := st.SetReadDeadline(time.Now().Add(tunnel.HeaderTimeout)); err != nil {
		_ = st.Close()
		return
	}
	h, err := tunnel.ReadHeader(st)
	if err == nil {
		err = st.SetReadDeadline(time.Time{})
	}
	if err != nil {
		_ = st.Close()
		return
	}
	switch h.Service {
	case tunnel.ServiceBroker:
		t.broker.inbox.put(st)
	case tunnel.ServiceProxy:
		t.proxy.inbox.put(st)
	case tunnel.ServiceHello:
		t.gate.readyOnce.Do(func() { close(t.gate.ready) })
		_ = st.Close()
	case tunnel.ServiceNames:
		t.readNames(st)
	default:
		_ = st.Close()
	}
}
