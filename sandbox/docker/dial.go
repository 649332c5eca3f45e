package docker

import (
	"context"
	"net"
	"net/url"
	"time"
)

// spyKey finds, in the context of a call, the function that wants to know the
// connection the call dials.
type spyKey struct{}

// dialer dials the engine. The SDK reads the answer to a hijacking request
// (attach, exec) without looking at the context, so a hung engine would hold
// the caller for ever; held gets hold of the connection through spyKey.
//
// With TLS the SDK dials hijacked connections itself and this has no effect.
func dialer(endpoint *url.URL) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if endpoint.Scheme == "unix" {
			// For plain requests addr is a made-up HTTP host.
			network, addr = "unix", endpoint.Host+endpoint.Path
		}
		conn, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if spy, ok := ctx.Value(spyKey{}).(func(net.Conn)); ok {
			spy(conn)
		}
		return conn, nil
	}
}

// held returns a context for one hijacking call and a function to call after
// it. Until then the end of ctx closes the connection, which ends the call.
func held(ctx context.Context) (context.Context, func()) {
	release := func() bool { return true }
	spied := context.WithValue(ctx, spyKey{}, func(c net.Conn) {
		release = context.AfterFunc(ctx, func() { c.Close() })
	})
	return spied, func() { release() }
}
