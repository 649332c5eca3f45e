// Package guard decides who may speak to the server: under which name it was called, from which site, by which user, and
// with which token. It looks at the head of a request only, and answers refused ones itself.
package guard

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"path"
	"strings"

	"sandboxrun/runner/httpapi/problem"
)

// Guard protects a handler.
type Guard struct {
	token   [sha256.Size]byte
	hosts   map[string]bool // accepted values of Host, in lower case
	origins map[string]bool
	session func(token string) (id string, ok bool)
	refused func(reason string)
}

// Options are what a Guard is made from.
type Options struct {
	Token string
	// Port is the port the server listens on, 0 where only a socket is.
	Port int
	// Names are host names besides those of loopback; TLS says that the server speaks it.
	Names []string
	TLS   bool
	// Address is the IP address the server listens on where it is not loopback, else "".
	Address string
	// Session returns the id of the page session that a token belongs to; nil where there are none.
	Session func(token string) (id string, ok bool)
	// Refused is called with the reason of every refusal: host, origin, peer, missing or wrong.
	Refused func(reason string)
}

// New makes a guard.
func New(o Options) *Guard {
	g := &Guard{token: sha256.Sum256([]byte(o.Token)), hosts: map[string]bool{}, origins: map[string]bool{}, session: o.Session, refused: o.Refused}
	scheme := "http://"
	if o.TLS {
		scheme = "https://"
	}
	for _, name := range append([]string{"127.0.0.1", "localhost", "::1", o.Address}, o.Names...) {
		if name == "" {
			continue
		}
		literal := name
		if strings.Contains(name, ":") {
			literal = "[" + name + "]"
		}
		withPort := net.JoinHostPort(name, itoa(o.Port))
		g.hosts[literal], g.hosts[withPort] = true, true
		g.origins[scheme+withPort] = true
		if o.TLS && o.Port == 443 || !o.TLS && o.Port == 80 {
			g.origins[scheme+literal] = true // browsers leave out the usual port
		}
	}
	return g
}

// streamProtocol is the sub-protocol by which a browser's WebSocket passes the token: it cannot set headers.
const streamProtocol = "bearer."

// Protect calls next for requests that may be answered. Those to a path of open need no token; each other does, before it
// learns whether its path exists.
func (g *Guard) Protect(next http.Handler, open ...string) http.Handler {
	public := map[string]bool{}
	for _, p := range open {
		public[p] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		r, reason, p := g.judge(r, public[r.URL.Path])
		if p != nil {
			g.refused(reason)
			p.Write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// judge returns the request, with the page session it belongs to, or why it is refused.
func (g *Guard) judge(r *http.Request, public bool) (_ *http.Request, reason string, refusal *problem.Problem) {
	if !g.hosts[strings.ToLower(r.Host)] {
		return r, "host", problem.New(problem.CodeForeignHost, "this server has no such name")
	}
	if !g.sameSite(r) {
		return r, "origin", problem.New(problem.CodeForeignOrigin, "pages of other sites may not call this server")
	}
	switch peerOf(r.Context()) {
	case peerForeign:
		return r, "peer", problem.New(problem.CodeForeignPeer, "the socket belongs to another user")
	case peerSelf:
		return r, "", nil
	case peerUnknown:
	}
	if public {
		return r, "", nil
	}
	offered, ok := offeredToken(r)
	given := sha256.Sum256([]byte(offered))
	// Compared also where there is none: both take the same time.
	if subtle.ConstantTimeCompare(given[:], g.token[:]) == 1 && ok {
		return r, "", nil
	}
	if g.session != nil && ok {
		if id, known := g.session(offered); known {
			return r.WithContext(context.WithValue(r.Context(), sessionKey{}, id)), "", nil
		}
	}
	reason = "wrong"
	if !ok {
		reason = "missing"
	}
	return r, reason, problem.New(problem.CodeUnauthorized, "a valid token is needed").
		With(`send "Authorization: Bearer TOKEN"; the file "token" in the state directory holds it`)
}

type sessionKey struct{}

// Session is the id of the page session that a request belongs to; "" for one with the server's own token, or over the
// socket.
func Session(ctx context.Context) string {
	id, _ := ctx.Value(sessionKey{}).(string)
	return id
}

// sameSite reports whether a request comes from no page, or from a page of this server. Another port of this machine is
// another site. Programs send neither header.
func (g *Guard) sameSite(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && !g.origins[strings.ToLower(origins[0])] {
		return false
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		// "none" is a person who typed the address.
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

// offeredToken returns the token that a request offers in its one Authorization header or, for a WebSocket, as a
// sub-protocol.
func offeredToken(r *http.Request) (string, bool) {
	values := r.Header.Values("Authorization")
	if len(values) == 1 {
		scheme, token, ok := strings.Cut(values[0], " ")
		return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
	}
	if len(values) == 0 && path.Base(r.URL.Path) == "ws" {
		for protocol := range strings.SplitSeq(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), ",") {
			if token, ok := strings.CutPrefix(strings.TrimSpace(protocol), streamProtocol); ok {
				return token, token != ""
			}
		}
	}
	return "", false
}
