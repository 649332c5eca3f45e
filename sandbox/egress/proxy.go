package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// proxy is the HTTP proxy of the box. It accepts two requests: CONNECT, and GET or another method with an absolute
// http:// target.
type proxy struct {
	allow   *allowlist
	dialer  guardedDialer
	limits  Limits
	record  *recorder
	tunnels sync.WaitGroup // handlers that have taken over their connection
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		p.connect(w, r)
		return
	}
	p.plain(w, r)
}

// admit checks the target of a request. It answers a refused request itself.
func (p *proxy) admit(w http.ResponseWriter, r *http.Request, target string, defaultPort uint16) (*passage, bool) {
	rec := Record{Kind: KindConnect, Time: time.Now(), Name: target, Method: r.Method}
	host, port, err := splitTarget(target, defaultPort)
	if err == nil && port == 0 {
		err = errPort
	}
	if err == nil {
		rec.Name = net.JoinHostPort(host, strconv.Itoa(int(port)))
		var ctx context.Context
		var leave func()
		if ctx, leave, err = p.allow.enter(r.Context(), host, port); err == nil {
			return &passage{ctx: ctx, leave: leave, host: host, port: port, rec: rec}, true
		}
	}
	p.refuse(w, rec, err)
	return nil, false
}

// passage is an admitted request in progress.
type passage struct {
	ctx   context.Context
	leave func()
	host  string
	port  uint16
	rec   Record
}

// refuse answers and records refused and failed requests.
func (p *proxy) refuse(w http.ResponseWriter, rec Record, err error) {
	rec.Status = http.StatusBadGateway
	if errors.Is(err, errNotAllowed) || errors.Is(err, errPrivate) || errors.Is(err, errHost) ||
		errors.Is(err, errNumber) || errors.Is(err, errPort) || errors.Is(err, errProxyForm) {
		rec.Kind, rec.Status = KindDenied, http.StatusForbidden
	}
	rec.Reason = err.Error()
	if private, ok := errors.AsType[*privateError](err); ok {
		rec.Address = private.address.String()
	}
	rec.Duration = time.Since(rec.Time)
	p.record.add(rec)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close")
	w.WriteHeader(rec.Status)
	_, _ = fmt.Fprintf(w, "sandboxrun: %s: %s\n", printable(rec.Name), printable(rec.Reason)) //nolint:gosec // plain text; the client may be gone
}
