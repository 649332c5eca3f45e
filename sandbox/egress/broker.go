package egress

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"sandboxrun/internal/redact"
	"sandboxrun/sandbox/egress/body"
	"sandboxrun/sandbox/egress/tunnel"
)

var (
	errNoRoute   = errors.New("no provider of this run has this path")
	errToken     = errors.New("the credential is not this run's placeholder")
	errProtocol  = errors.New("protocol upgrades are not forwarded")
	errBodySize  = errors.New("the request body is too large")
	errNoKey     = errors.New("the runner has no usable key for this provider")
	errUpstream  = errors.New("the provider could not be reached")
	errRedirect  = errors.New("the provider answered with a redirect, which is not followed")
	errEncoding  = errors.New("the provider answered in an encoding that was not requested")
	errAbsolute  = errors.New("want a path, not a whole url")
	errCancelled = errors.New("the box cancelled the request")
)

// broker forwards the listed calls of the listed providers with their real key.
type broker struct {
	routes    map[string]*Route
	token     [sha256.Size]byte // hashed, so that a comparison takes the same time for any length
	limits    Limits
	budget    Budget // nil for none
	record    *recorder
	transport http.RoundTripper
	requests  atomic.Int64        // forwarded so far
	bytes     atomic.Int64        // remaining of Limits.BrokerBytes
	keys      redact.Redactor     // every key sent so far
	memory    *semaphore.Weighted // bytes of bodies held at one time
	reading   sync.Mutex          // held while a body is judged: one at a time bounds the memory that takes
}

// call is one request in the broker.
type call struct {
	route    *Route
	dialect  *dialect // nil while the route is not known
	endpoint endpoint
	query    url.Values
	path     string // below the provider's prefix
	body     []byte // judged, and forwarded as it is
	facts    body.Facts
	rec      Record
}

func (b *broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{rec: Record{Kind: KindDenied, Time: time.Now(), Method: r.Method}}
	status, err := b.admit(c, r)
	if err != nil {
		b.answer(w, c, status, err)
		return
	}
	if c.endpoint.answer != 0 {
		w.WriteHeader(c.endpoint.answer)
		return
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), b.limits.RequestTime, tunnel.ErrLifetime)
	defer cancel()
	r = r.WithContext(ctx)
	release, status, err := b.judge(w, r, c)
	if err != nil {
		release()
		b.answer(w, c, status, err)
		return
	}
	if b.budget == nil || c.endpoint.form == nil {
		b.forward(w, r, c, release)
		return
	}
	input := c.estimate()
	if err := b.budget.Begin(r.Context(), input, c.facts.Output); err != nil {
		release()
		b.answer(w, c, http.StatusForbidden, err)
		return
	}
	whole := false
	defer func() { b.budget.End(r.Context(), input, c.facts.Output, c.used(input, whole)) }()
	b.forward(w, r, c, release) // panics where the answer is cut
	whole = true
}

// admit fills in the call and refuses what must not be forwarded.
func (b *broker) admit(c *call, r *http.Request) (status int, err error) {
	provider, target, ok := strings.Cut(strings.TrimPrefix(r.RequestURI, "/"), "/")
	c.rec.Name = r.RequestURI
	if r.URL.Host != "" || r.URL.Scheme != "" || !strings.HasPrefix(r.RequestURI, "/") {
		return http.StatusForbidden, errAbsolute
	}
	if c.route = b.routes[provider]; !ok || c.route == nil {
		return http.StatusNotFound, errNoRoute
	}
	c.path, _, _ = strings.Cut("/"+target, "?")
	c.rec.Provider, c.rec.Path = provider, c.path
	c.rec.Name = provider + c.path
	if c.dialect, c.endpoint, c.query, err = c.route.match(r.Method, "/"+target); err != nil {
		return http.StatusForbidden, err
	}
	switch {
	case c.endpoint.answer != 0:
		return 0, nil
	case !b.holdsToken(r.Header):
		return http.StatusUnauthorized, errToken
	case r.Header.Get("Upgrade") != "":
		return http.StatusForbidden, errProtocol
	case r.ContentLength > b.limits.RequestBody:
		return http.StatusRequestEntityTooLarge, errBodySize
	case b.bytes.Load() <= 0 || b.requests.Add(1) > int64(b.limits.Requests):
		return http.StatusForbidden, errBudget
	}
	return 0, nil
}

func (b *broker) holdsToken(h http.Header) bool {
	held := 0
	for _, name := range credentialHeaders {
		for _, value := range h.Values(name) {
			if len(value) > 7 && strings.EqualFold(value[:7], "Bearer ") {
				value = value[7:]
			}
			sum := sha256.Sum256([]byte(value))
			held |= subtle.ConstantTimeCompare(sum[:], b.token[:])
		}
	}
	return held == 1
}

// answer ends a call with an error of the broker's own, in the provider's format, and records it.
func (b *broker) answer(w http.ResponseWriter, c *call, status int, err error) {
	c.rec.Status = status
	c.rec.Duration = time.Since(c.rec.Time)
	if c.rec.Reason == "" {
		c.rec.Reason = err.Error()
	}
	b.record.add(c.rec)

	message := "sandboxrun: " + err.Error()
	var body []byte
	if c.dialect != nil {
		body = c.dialect.errorBody(status, message)
	} else {
		body = mustJSON(map[string]any{"error": map[string]string{"type": "sandboxrun", "message": message}})
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}
