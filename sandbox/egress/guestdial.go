package egress

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// headerTimeout bounds how long a stream may take to say what it is for.
const headerTimeout = 10 * time.Second

// acceptPause is the wait before accepting again without free descriptors.
const acceptPause = 100 * time.Millisecond

// Answers of the guest to a dial, one byte.
const (
	dialOK     = 0
	dialFailed = 1
)

// dials serves the streams the host opens: each asks for a connection to a
// loopback port of the box.
func (g *guest) dials(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	places := make(chan struct{}, dialConns)
	for {
		accepted, err := g.session.AcceptStream()
		if err != nil {
			return
		}
		st := &stream{Stream: accepted}
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

func (g *guest) dial(ctx context.Context, st *stream) {
	defer st.Close()
	if err := st.SetReadDeadline(time.Now().Add(headerTimeout)); err != nil {
		return
	}
	h, err := readHeader(st)
	if err != nil || h.service != serviceDial {
		return
	}
	if err := st.SetReadDeadline(time.Time{}); err != nil {
		return
	}
	dialer := net.Dialer{Timeout: headerTimeout}
	conn, err := dialer.DialContext(ctx, "tcp4", net.JoinHostPort(loopback, strconv.Itoa(int(h.port))))
	if err != nil {
		_, _ = st.Write([]byte{dialFailed}) // the stream's end says the same
		return
	}
	local, ok := conn.(duplex)
	if !ok {
		_ = conn.Close()
		return
	}
	if _, err := st.Write([]byte{dialOK}); err != nil {
		_ = conn.Close()
		return
	}
	splice(ctx, local, st, bounds{linger: closeLinger}) //nolint:errcheck // the host knows why it ended
}

// retryAccept says whether accepting goes on after err: a client that gave up
// before it was accepted, or, after a pause, a moment without free descriptors.
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
