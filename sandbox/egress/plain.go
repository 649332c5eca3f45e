package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"time"

	"sandboxrun/sandbox/egress/tunnel"
)

var errProxyForm = errors.New("want CONNECT, or a whole http:// url without user and password")

// plain answers a request with an absolute http:// target. The name in the target decides; a different Host header is
// replaced.
func (p *proxy) plain(w http.ResponseWriter, r *http.Request) {
	if r.URL.Scheme != "http" || r.URL.Host == "" || r.URL.User != nil || r.Method == http.MethodTrace {
		p.refuse(w, Record{Kind: KindDenied, Time: time.Now(), Name: r.Host, Method: r.Method}, errProxyForm)
		return
	}
	pass, ok := p.admit(w, r, r.URL.Host, 80)
	if !ok {
		return
	}
	defer pass.leave()
	ctx, cancel := context.WithTimeoutCause(pass.ctx, p.limits.ConnectionTime, tunnel.ErrLifetime)
	defer cancel()

	// Not by the transport: it dials in a goroutine that outlives the request, and so the tunnel.
	conn, err := p.dialer.dial(ctx, pass.host, pass.port)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		p.refuse(w, pass.rec, err)
		return
	}
	defer conn.Close()
	dialled := make(chan net.Conn, 1)
	dialled <- conn

	rec := pass.rec
	rec.Status = http.StatusOK
	var failed error
	up := &meter{left: p.limits.ConnectionBytes}
	down := &meter{left: p.limits.ConnectionBytes}
	transport := &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			select {
			case conn := <-dialled:
				return conn, nil
			default:
				return nil, net.ErrClosed // one request, one connection
			}
		},
		DisableKeepAlives:     true,
		DisableCompression:    true,
		ResponseHeaderTimeout: p.limits.ConnectionIdle,
	}
	forward := httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.Host = pr.Out.URL.Host
			pr.Out.Header.Del("Upgrade") // ReverseProxy restores it
			pr.Out.Header.Del("Connection")
			if pr.Out.Body != nil {
				up.body = pacedBody{pr.Out.Body, w, p.limits.ConnectionIdle}
				pr.Out.Body = up
			}
		},
		ModifyResponse: func(res *http.Response) error {
			if res.StatusCode == http.StatusSwitchingProtocols {
				return errProxyForm
			}
			rec.Status = res.StatusCode
			down.body, res.Body = res.Body, down
			return nil
		},
		ErrorHandler:  func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err },
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      silent,
	}
	defer func() {
		if failed != nil {
			return
		}
		if cause := context.Cause(ctx); cause != nil {
			rec.Reason = cause.Error()
		}
		rec.RequestBytes, rec.ResponseBytes = up.count.Load(), down.count.Load()
		rec.Duration = time.Since(rec.Time)
		p.record.add(rec)
	}()
	forward.ServeHTTP(pacedWriter{w, p.limits.ConnectionIdle}, r.WithContext(ctx))
	if failed != nil {
		if cause := context.Cause(ctx); cause != nil {
			failed = cause
		}
		p.refuse(w, pass.rec, failed)
	}
}
