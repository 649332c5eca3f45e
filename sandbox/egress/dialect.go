package egress

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/sandbox/egress/body"
)

// dialect is what the broker knows of one wire: the calls a box may make, the headers that pass in either direction,
// and the vendor's formats.
type dialect struct {
	endpoints       []endpoint
	requestHeaders  []string       // forwarded to the provider; a trailing * matches any ending
	judgedHeaders   []*body.Header // those of requestHeaders whose values are judged
	responseHeaders []string       // passed back to the box; likewise
	auth            func(http.Header, Credential)
	usage           usageReader
	errorBody       func(status int, message string) []byte
}

// endpoint is one call a box may make.
type endpoint struct {
	method string
	// path below the provider's prefix, from the API's version on. One * in it matches the name of a model.
	path   string
	query  []string   // name=value each; the value * matches any word
	answer int        // unless 0, the status with which the broker answers by itself
	form   *body.Form // of the body; nil for a call without one
	free   bool       // uses no tokens of the account
}

var (
	modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	queryWord = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
)

func (e *endpoint) hasPath(path string) bool {
	if !strings.Contains(e.path, "*") {
		return path == e.path
	}
	_, ok := e.model(path)
	return ok
}

// model is the name of the model in a path, if this endpoint has one there.
func (e *endpoint) model(path string) (name string, ok bool) {
	before, after, star := strings.Cut(e.path, "*")
	if !star {
		return "", false
	}
	if name, ok = strings.CutPrefix(path, before); ok {
		name, ok = strings.CutSuffix(name, after)
	}
	return name, ok && modelName.MatchString(name)
}

// takes reports whether all of a query is allowed, each parameter once.
func (e *endpoint) takes(query map[string][]string) bool {
	for name, values := range query {
		if len(values) != 1 {
			return false
		}
		word := queryWord.MatchString(values[0]) && slices.Contains(e.query, name+"=*")
		if !word && !slices.Contains(e.query, name+"="+values[0]) {
			return false
		}
	}
	return true
}

// mustJSON encodes values that cannot fail: maps of strings and numbers.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
