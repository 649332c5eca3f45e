package egress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"sandboxrun/sandbox/egress/body"
	"sandboxrun/sandbox/egress/tunnel"
)

var (
	errRequestEncoding = errors.New("the request body is encoded; send it as plain JSON, without a Content-Encoding")
	errContentType     = errors.New("the request body is not declared as application/json in utf-8")
	errNoBody          = errors.New("this call has no body")
)

// judge reads the whole body of an admitted call and refuses one that asks for more than the run may have. It fills in
// the bytes that are forwarded, which are those that were judged. They count against the memory of the broker until
// release is called, which is never nil.
func (b *broker) judge(w http.ResponseWriter, r *http.Request, c *call) (release func(), status int, err error) {
	release = func() {}
	policy := &c.route.policy
	if err := headersRefused(c.dialect, r.Header, policy); err != nil {
		return release, c.refused(err), err
	}
	if name, ok := c.endpoint.model(c.path); ok {
		if err := policy.Model(name); err != nil {
			return release, c.refused(err), err
		}
	}
	if c.endpoint.form == nil {
		if r.ContentLength != 0 {
			return release, http.StatusBadRequest, errNoBody
		}
		return release, 0, nil
	}
	if err := plainJSON(r.Header); err != nil {
		c.rec.Judged = true
		return release, http.StatusUnsupportedMediaType, err
	}
	if release, status, err = b.readBody(w, r, c); err != nil {
		return release, status, err
	}
	b.reading.Lock()
	facts, err := c.endpoint.form.Read(c.body, policy)
	b.reading.Unlock()
	if err != nil {
		return release, c.refused(err), err
	}
	c.facts = facts
	return release, 0, nil
}

// refused names what was refused in the record, and returns the status that the box sees. It is never one of those by
// which a client finds its key refused, or a reason to try again.
func (c *call) refused(err error) int {
	if r, ok := errors.AsType[*body.RefusedError](err); ok && r.At != "" {
		c.rec.Name += "#" + r.At
	}
	c.rec.Judged = true
	return http.StatusBadRequest
}

// readBody reads a body of unknown or declared length into memory, of which all bodies of a broker share a bound.
func (b *broker) readBody(w http.ResponseWriter, r *http.Request, c *call) (release func(), status int, err error) {
	room := r.ContentLength
	if room < 0 {
		room = b.limits.RequestBody
	}
	if err := b.memory.Acquire(r.Context(), room); err != nil {
		return func() {}, http.StatusServiceUnavailable, fmt.Errorf("wait for other requests: %w", err)
	}
	release = sync.OnceFunc(func() { b.memory.Release(room) })
	up := &meter{body: pacedBody{r.Body, w, writeIdle}, left: b.limits.RequestBody, shared: &b.bytes}
	if r.ContentLength >= 0 {
		c.body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(up, c.body)
	} else {
		c.body, err = io.ReadAll(up)
	}
	c.rec.RequestBytes = up.count.Load()
	switch {
	case err == nil:
		return release, 0, nil
	case errors.Is(err, tunnel.ErrByteLimit):
		return release, http.StatusRequestEntityTooLarge, errBodySize
	case errors.Is(err, errBudget):
		return release, http.StatusForbidden, errBudget
	}
	return release, http.StatusBadRequest, errors.New("the request body was not sent to its end")
}

// headersRefused judges the headers whose values change what the provider does.
func headersRefused(d *dialect, h http.Header, p *body.Policy) error {
	for _, judged := range d.judgedHeaders {
		if err := judged.Read(h.Values(judged.Name), p); err != nil {
			return err
		}
	}
	return nil
}

// plainJSON refuses a body that the provider could read otherwise than as JSON in UTF-8.
func plainJSON(h http.Header) error {
	for _, e := range h.Values("Content-Encoding") {
		if !strings.EqualFold(e, "identity") {
			return errRequestEncoding
		}
	}
	types := h.Values("Content-Type")
	if len(types) != 1 {
		return errContentType
	}
	kind, params, err := mime.ParseMediaType(types[0])
	if err != nil || kind != "application/json" {
		return errContentType
	}
	for name, value := range params {
		if name != "charset" || !slices.Contains([]string{"utf-8", "utf8"}, strings.ToLower(value)) {
			return errContentType
		}
	}
	return nil
}

// Inspect judges a request as the broker of a gate does before it forwards one, for tests that watch what clients send:
// nil means that it would be forwarded. target is the path below the provider's prefix, with its query.
func Inspect(route Route, r *http.Request, target string, content []byte) error {
	d, e, _, err := route.match(r.Method, target)
	if err != nil {
		return err
	}
	path, _, _ := strings.Cut(target, "?")
	if name, ok := e.model(path); ok {
		if err := route.policy.Model(name); err != nil {
			return err
		}
	}
	if err := headersRefused(d, r.Header, &route.policy); err != nil || e.form == nil {
		return err
	}
	if err := plainJSON(r.Header); err != nil {
		return err
	}
	_, err = e.form.Read(content, &route.policy)
	return err
}

// heldBody is a body in memory that is given back when nothing reads it any more.
type heldBody struct {
	*bytes.Reader
	release func()
}

// Close gives the memory back.
func (h heldBody) Close() error {
	h.release()
	return nil
}
