package egress

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/internal/wire"
	"sandboxrun/sandbox/egress/body"
)

// Route is one provider the broker forwards to, found at BrokerURL of its name.
// NewRoute makes one.
type Route struct {
	provider string
	base     *url.URL
	// versioned says that base ends in the API's version, which then replaces the version at the beginning of every
	// path.
	versioned bool
	key       KeyFunc
	dialects  []*dialect
	policy    body.Policy
}

// Headers that are forwarded whatever the wire.
var (
	plainRequestHeaders  = []string{"Accept", "Content-Type", "User-Agent"}
	plainResponseHeaders = []string{"Content-Type", "Date", "Retry-After", "Request-Id", "X-Request-Id"}
)

var (
	providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	// plainPath excludes everything that two parsers could read differently: percent escapes, backslashes, @, empty
	// segments.
	plainPath  = regexp.MustCompile(`^(/[A-Za-z0-9_~:-][A-Za-z0-9._~:-]*)+$`)
	apiVersion = regexp.MustCompile(`^v[0-9]+[a-z0-9]*$`)
)

// NewRoute returns the route of one provider that serves the given wires. A box finds the calls of all of them below
// BrokerURL(provider), from the API's version on ("/v1/messages"). provider consists of lower-case letters, digits and
// dashes. base is an http or https URL, with or without the version at its end: "https://api.example" and
// "https://api.example/v1" are the same; another version at its end is used as given. An error names the provider and
// what is wrong.
func NewRoute(provider string, base *url.URL, key KeyFunc, wires ...wire.Wire) (Route, error) {
	r := Route{provider: provider, base: base, key: key}
	switch {
	case !providerName.MatchString(provider):
		return Route{}, fmt.Errorf("provider name %q: want lower-case letters, digits and dashes", provider)
	case base == nil || (base.Scheme != "https" && base.Scheme != "http") || base.Host == "":
		return Route{}, fmt.Errorf("provider %s: base url is not an http or https url", provider)
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return Route{}, fmt.Errorf("provider %s: base url has a user, query or fragment", provider)
	case key == nil:
		return Route{}, fmt.Errorf("provider %s: no key", provider)
	case len(wires) == 0:
		return Route{}, fmt.Errorf("provider %s: serves no wire", provider)
	}
	r.versioned = apiVersion.MatchString(path.Base(base.Path))
	for _, w := range wires {
		d := dialects[w]
		if d == nil {
			return Route{}, fmt.Errorf("provider %s: unknown wire %q", provider, w)
		}
		r.dialects = append(r.dialects, d)
	}
	return r, nil
}

// Under returns the route for a run whose requests may ask for what p says. Without it they may ask for any model and
// nothing else.
func Under(p Policy, r Route) Route {
	r.policy = p
	return r
}

var (
	errPath     = errors.New("the path is not plain")
	errEndpoint = errors.New("this call is not on the provider's list")
	errQuery    = errors.New("this query parameter is not on the provider's list")
)

// match finds the endpoint for a request's method and raw target, which has the form /path?query below the provider's
// prefix. For a refused call it returns the dialect whose errors the client most likely understands.
func (r *Route) match(method, target string) (d *dialect, e endpoint, query url.Values, err error) {
	d = r.dialects[0]
	raw, rawQuery, _ := strings.Cut(target, "?")
	if !plainPath.MatchString(raw) || path.Clean(raw) != raw {
		return d, endpoint{}, nil, errPath
	}
	query, badQuery := url.ParseQuery(rawQuery)
	err = errEndpoint
	for _, spoken := range r.dialects {
		for _, e := range spoken.endpoints {
			switch {
			case !e.hasPath(raw):
			case e.method != method:
				d = spoken
			case badQuery != nil || !e.takes(query):
				d, err = spoken, errQuery
			default:
				return spoken, e, query, nil
			}
		}
	}
	return d, endpoint{}, nil, err
}

// url returns the provider's URL of an endpoint's path.
func (r *Route) url(path string, query url.Values) *url.URL {
	if r.versioned {
		_, path, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	}
	u := r.base.JoinPath(path)
	u.RawQuery = query.Encode()
	return u
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

// dialects holds the dialect of every wire. It is read-only.
var dialects = map[wire.Wire]*dialect{
	wire.AnthropicMessages: &anthropicMessages,
	wire.OpenAIResponses:   &openAIResponses,
	wire.OpenAIChat:        &openAIChat,
	wire.GoogleGenerate:    &googleGenerate,
}
