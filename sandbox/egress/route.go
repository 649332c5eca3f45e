package egress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// KeyFunc returns a provider's key. It is called for every request, so a key
// may be renewed during a run. Its error is never shown to the box.
type KeyFunc func(ctx context.Context) (string, error)

// StaticKey returns a KeyFunc for a key that does not change.
func StaticKey(key string) KeyFunc {
	return func(context.Context) (string, error) { return key, nil }
}

// Auth says in which header a provider takes its key.
type Auth string

// The ways to send a key.
const (
	AuthXAPIKey Auth = "X-Api-Key"     //nolint:gosec // a header's name; the key alone
	AuthBearer  Auth = "Authorization" // "Bearer " and the key
)

func (a Auth) set(h http.Header, key string) {
	if a == AuthBearer {
		key = "Bearer " + key
	}
	h.Set(string(a), key)
}

// Route is one provider the broker forwards to, found at BrokerURL(Provider).
type Route struct {
	Provider string   // lower-case letters, digits and dashes
	BaseURL  *url.URL // http or https; a path in it is put before the endpoint's
	Key      KeyFunc
	Auth     Auth
	Allow    []Endpoint

	RequestHeaders  []string // forwarded to the provider; a trailing * matches any ending
	ResponseHeaders []string // passed back to the box; likewise

	Usage func(document []byte, u *Usage)         // reads one JSON body or SSE data field; nil: not counted
	Error func(status int, message string) []byte // a body in the provider's own error shape
}

// Endpoint is one call a box may make.
type Endpoint struct {
	Method string
	Path   string   // a pattern of path.Match, where * stays within one segment
	Query  []string // parameters that may be given
	Answer int      // when not 0, the broker answers this status itself
}

// Headers that are forwarded whatever the provider.
var (
	plainRequestHeaders  = []string{"Accept", "Content-Type", "User-Agent"}
	plainResponseHeaders = []string{"Content-Type", "Date", "Retry-After", "Request-Id", "X-Request-Id"}
)

var (
	providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	// plainPath leaves out everything that two parsers could read differently:
	// percent escapes, backslashes, @, empty segments.
	plainPath = regexp.MustCompile(`^(/[A-Za-z0-9_~:-][A-Za-z0-9._~:-]*)+$`)
)

func (r *Route) check() error {
	switch u := r.BaseURL; {
	case !providerName.MatchString(r.Provider):
		return fmt.Errorf("provider name %q: want lower-case letters, digits and dashes", r.Provider)
	case u == nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "":
		return fmt.Errorf("provider %s: base url is not an http or https url", r.Provider)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("provider %s: base url has a user, query or fragment", r.Provider)
	case r.Key == nil:
		return fmt.Errorf("provider %s: no key", r.Provider)
	case r.Auth != AuthXAPIKey && r.Auth != AuthBearer:
		return fmt.Errorf("provider %s: unknown auth %q", r.Provider, r.Auth)
	}
	for _, e := range r.Allow {
		if _, err := path.Match(e.Path, "/"); err != nil {
			return fmt.Errorf("provider %s: path %q: %w", r.Provider, e.Path, err)
		}
	}
	return nil
}

var (
	errPath     = errors.New("the path is not plain")
	errEndpoint = errors.New("this call is not on the provider's list")
	errQuery    = errors.New("this query parameter is not on the provider's list")
)

// match finds the endpoint for a request's method and raw target, which has the
// form /path?query below the provider's prefix.
func (r *Route) match(method, target string) (e Endpoint, query url.Values, err error) {
	raw, rawQuery, _ := strings.Cut(target, "?")
	if !plainPath.MatchString(raw) || path.Clean(raw) != raw {
		return Endpoint{}, nil, errPath
	}
	query, err = url.ParseQuery(rawQuery)
	if err != nil {
		return Endpoint{}, nil, errQuery
	}
	err = errEndpoint
	for _, e := range r.Allow {
		if ok, _ := path.Match(e.Path, raw); !ok || e.Method != method { // patterns were checked
			continue
		}
		if !allIn(query, e.Query) {
			err = errQuery
			continue
		}
		return e, query, nil
	}
	return Endpoint{}, nil, err
}

func allIn(query url.Values, names []string) bool {
	for name := range query {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// filter copies the headers that one of the lists names.
func filter(from http.Header, lists ...[]string) http.Header {
	to := http.Header{}
	for name, values := range from {
		for _, list := range lists {
			if slices.ContainsFunc(list, func(want string) bool { return headerMatches(want, name) }) {
				to[name] = slices.Clone(values)
				break
			}
		}
	}
	return to
}

func headerMatches(want, name string) bool {
	if prefix, ok := strings.CutSuffix(want, "*"); ok {
		return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
	}
	return strings.EqualFold(want, name)
}
