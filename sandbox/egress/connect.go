package egress

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"time"

	"sandboxrun/sandbox/egress/tunnel"
)

// connect answers CONNECT: a tunnel of bytes to an admitted host and port.
func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	// The raw target: r.Host drops user information before the host.
	pass, ok := p.admit(w, r, r.RequestURI, 0)
	if !ok {
		return
	}
	defer pass.leave()
	conn, err := p.dialer.dial(pass.ctx, pass.host, pass.port)
	if err != nil {
		p.refuse(w, pass.rec, err)
		return
	}
	defer conn.Close()
	far, ok := conn.(tunnel.Duplex)
	if !ok {
		p.refuse(w, pass.rec, net.UnknownNetworkError("not a stream"))
		return
	}
	p.tunnels.Add(1) // while the server still counts this connection
	defer p.tunnels.Done()
	near, err := hijack(w)
	if err != nil {
		p.refuse(w, pass.rec, err)
		return
	}
	defer near.Close()

	rec := pass.rec
	rec.Status = http.StatusOK
	if _, err = io.WriteString(near, "HTTP/1.1 200 Connection Established\r\n\r\n"); err == nil {
		rec.RequestBytes, rec.ResponseBytes, err = tunnel.Splice(pass.ctx, near, far, tunnel.Bounds{
			Idle: p.limits.ConnectionIdle, Total: p.limits.ConnectionTime, Bytes: p.limits.ConnectionBytes,
		})
	}
	if err != nil {
		rec.Reason = err.Error()
	}
	rec.Duration = time.Since(rec.Time)
	p.record.add(rec)
}

// taken is a connection after a hijack, with the bytes the server had already read.
type taken struct {
	*tunnel.Stream
	early io.Reader
}

func (t taken) Read(p []byte) (int, error) { return t.early.Read(p) }

func hijack(w http.ResponseWriter) (tunnel.Duplex, error) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	st, ok := conn.(*tunnel.Stream)
	if !ok {
		_ = conn.Close()
		return nil, http.ErrNotSupported
	}
	if err := st.SetDeadline(time.Time{}); err != nil {
		_ = st.Close()
		return nil, err
	}
	return taken{st, io.MultiReader(buffered(rw.Reader), st)}, nil
}

// buffered returns the bytes that r already holds.
func buffered(r *bufio.Reader) io.Reader {
	b, err := r.Peek(r.Buffered())
	if err != nil {
		return bytes.NewReader(nil)
	}
	return bytes.NewReader(b)
}
