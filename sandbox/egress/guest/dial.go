package guest

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"sandboxrun/sandbox/egress/tunnel"
)

// dialConns is how many connections that the host asked for are carried at a time.
const dialConns = 16

// dials serves the streams the host opens: each requests a connection to a loopback port of the box.
func (g *guest) dials(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	places := make(chan struct{}, dialConns)
	for {
		accepted, err := g.session.AcceptStream()
		if err != nil {
			return
		}
		st := &tunnel.Stream{Stream: accepted}
		select {
		case places <- struct{}{}:
		default:
			_ = st.Close()
			continue
		}
		wg.Go(func() {
			defer func() { <-places }()
			g.dial(ctx, st)
		})
	}
}

func (g *guest) dial(ctx context.Context, st *tunnel.Stream) {
	defer st.Close()
	if err := st.SetReadDeadline(time.Now().Add(tunnel.HeaderTimeout)); err != nil {
		return
	}
	h, err := tunnel.ReadHeader(st)
	if err != nil || h.Service != tunnel.ServiceDial {
		return
	}
	if err := st.SetReadDeadline(time.Time{}); err != nil {
		return
	}
	dialer := net.Dialer{Timeout: tunnel.HeaderTimeout}
	conn, err := dialer.DialContext(ctx, "tcp4", net.JoinHostPort(tunnel.Loopback, strconv.Itoa(int(h.Port))))
	if err != nil {
		_, _ = st.Write([]byte{tunnel.DialFailed}) // the end of the stream says the same
		return
	}
	local, ok := conn.(tunnel.Duplex)
	if !ok {
		_ = conn.Close()
		return
	}
	if _, err := st.Write([]byte{tunnel.DialOK}); err != nil {
		_ = conn.Close()
		return
	}
	tunnel.Splice(ctx, local, st, tunnel.Bounds{Linger: closeLinger}) //nolint:errcheck // the host records why it ended
}
