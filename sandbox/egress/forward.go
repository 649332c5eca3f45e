package egress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"sandboxrun/internal/redact"
	"sandboxrun/sandbox/egress/tunnel"
)

const (
	// writeIdle is how long a client in the box may read nothing of an answer, or send nothing of a request it has
	// begun.
	writeIdle = 2 * time.Minute

	// maxErrorBody bounds an error answer.
	maxErrorBody = 1 << 20
)

// forward sends a judged call to the provider and streams the answer back. It writes the call's one record. release gives
// back the memory of the body.
func (b *broker) forward(w http.ResponseWriter, r *http.Request, c *call, release func()) {
	c.rec.Kind = KindRequest
	credential, err := c.route.key(r.Context())
	if err != nil || !credential.usable() {
		release()
		b.answer(w, c, http.StatusUnauthorized, errNoKey)
		return
	}
	hide := b.hide(credential.Value)
	req, err := b.upstreamRequest(r, c, credential, release)
	if err != nil {
		release()
		b.answer(w, c, http.StatusBadGateway, errUpstream)
		return
	}
	res, err := b.transport.RoundTrip(req)
	if err != nil {
		status, told := explain(r.Context(), err)
		c.rec.Reason = hide.String(err.Error())
		if errors.Is(told, errUpstream) {
			c.rec.Unreached = printable(hide.String(unreached(err)))
		}
		b.answer(w, c, status, told)
		return
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		b.answer(w, c, http.StatusBadGateway, errRedirect)
		return
	}
	// The request asks for no encoding. The key could not be found in an encoded answer.
	if encoding := res.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		b.answer(w, c, http.StatusBadGateway, errEncoding)
		return
	}

	down := &meter{body: res.Body, left: b.limits.BrokerBytes, shared: &b.bytes}
	var body io.Reader = down
	if res.StatusCode >= 400 {
		body = io.LimitReader(down, maxErrorBody)
	}
	body = &hidingReader{body: body, stream: hide.Stream()}
	for name, values := range filter(res.Header, plainResponseHeaders, c.dialect.responseHeaders) {
		for _, value := range values {
			w.Header().Add(name, hide.String(value))
		}
	}
	w.WriteHeader(res.StatusCode)
	tap := newUsageTap(c.dialect.usage, res.Header.Get("Content-Type"))
	err = relay(pacedWriter{w, writeIdle}, body, tap)

	c.rec.Status = res.StatusCode
	c.rec.ResponseBytes = down.count.Load()
	c.rec.Usage = tap.end()
	c.rec.Duration = time.Since(c.rec.Time)
	if err == nil {
		b.record.add(c.rec)
		return
	}
	c.rec.Reason = hide.String(err.Error())
	if cause := context.Cause(r.Context()); cause != nil {
		_, told := explain(r.Context(), err)
		c.rec.Reason = told.Error()
	}
	b.record.add(c.rec)
	panic(http.ErrAbortHandler) // the only way to show the client that the answer is incomplete
}

// upstreamRequest builds the request from zero: only what is listed here reaches the provider. The transport calls release
// when it has sent the body, or given up.
func (b *broker) upstreamRequest(r *http.Request, c *call, key Credential, release func()) (*http.Request, error) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, c.route.url(c.path, c.query).String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	if len(c.body) > 0 {
		req.Body, req.ContentLength = heldBody{bytes.NewReader(c.body), release}, int64(len(c.body))
	}
	c.body = nil // the answer may take long
	req.Header = filter(r.Header, plainRequestHeaders, c.dialect.requestHeaders)
	for _, name := range credentialHeaders {
		req.Header.Del(name)
	}
	c.dialect.auth(req.Header, key)
	return req, nil
}

// explain returns the status and the error that the box sees for a failed round trip.
func explain(ctx context.Context, err error) (status int, told error) {
	switch {
	case errors.Is(err, tunnel.ErrByteLimit):
		return http.StatusRequestEntityTooLarge, errBodySize
	case errors.Is(err, errBudget):
		return http.StatusForbidden, errBudget
	case errors.Is(context.Cause(ctx), tunnel.ErrLifetime):
		return http.StatusGatewayTimeout, tunnel.ErrLifetime
	case ctx.Err() != nil:
		return http.StatusBadGateway, errCancelled
	}
	return http.StatusBadGateway, errUpstream
}

// unreached says in the words of the system why a provider gave no answer. Addresses are left out: the configuration names
// the provider.
func unreached(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		if call, ok := errors.AsType[*os.SyscallError](op.Err); ok {
			return call.Err.Error()
		}
		return op.Err.Error()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it closed the connection without an answer"
	}
	return err.Error()
}

// relay copies body to w. It flushes the header at once and every piece as it arrives, and hands each piece to tap
// afterwards.
func relay(w http.ResponseWriter, body io.Reader, tap *usageTap) error {
	control := http.NewResponseController(w)
	if err := control.Flush(); err != nil {
		return err
	}
	buf := make([]byte, tunnel.CopyBuffer)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			if err := control.Flush(); err != nil {
				return err
			}
			tap.write(buf[:n])
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// hide returns the redactor that replaces the key, and every key this broker sent before, in a provider's answers. A
// service, or a gateway in between, may repeat the request in any answer. A key that is too short or too plain to be
// distinguished from ordinary text is not looked for: see [redact.ErrWeak].
func (b *broker) hide(key string) *redact.Redactor {
	_ = b.keys.Add("key", key) // the only other error is a key longer than any header may be
	return &b.keys
}

// hidingReader streams a body without the keys in it: it holds back only what could be the beginning of a key.
type hidingReader struct {
	body   io.Reader
	stream *redact.Stream
	ready  []byte // redacted and not read yet
	err    error  // of the body, once ready is read
}

func (h *hidingReader) Read(p []byte) (int, error) {
	for len(h.ready) == 0 {
		if h.err != nil {
			return 0, h.err
		}
		var n int
		n, h.err = h.body.Read(p)
		h.ready = append(h.ready[:0], h.stream.Next(p[:n])...)
		if h.err != nil {
			h.ready = append(h.ready, h.stream.Rest()...)
		}
	}
	n := copy(p, h.ready)
	h.ready = h.ready[n:]
	return n, nil
}
