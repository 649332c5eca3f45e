package sandboxtest

import (
	"net/http"
	"regexp"
	"sync/atomic"
)

// apiVersion begins the path of every call but the first ping.
var apiVersion = regexp.MustCompile(`^/v\d+\.\d+`)

// routes are the calls of the Engine API whose paths contain names. The first match counts: "/containers/json" is a
// list, not a container called json.
var routes = []struct {
	path *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`^/(containers|images|volumes|networks)/(create|json|load|prune)$`), "/$1/$2"},
	{regexp.MustCompile(`^/(containers|exec)/[^/]+(/\w+)?$`), "/$1/{id}$2"},
	{regexp.MustCompile(`^/volumes/[^/]+$`), "/volumes/{name}"},
	{regexp.MustCompile(`^/images/.+/(json|history)$`), "/images/{name}/$1"},
}

// Route names the kind of a request of the Engine API: its method, and its path without version, ids and names, e.g.
// "POST /containers/{id}/start".
func Route(r *http.Request) string {
	path := apiVersion.ReplaceAllString(r.URL.Path, "")
	for _, known := range routes {
		if known.path.MatchString(path) {
			path = known.path.ReplaceAllString(path, known.name)
			break
		}
	}
	return r.Method + " " + path
}

// OnRoute matches the requests of one route.
func OnRoute(route string) func(*http.Request) bool {
	return func(r *http.Request) bool { return Route(r) == route }
}

// Nth matches only the nth matching request, from 1.
func Nth(n int64, match func(*http.Request) bool) func(*http.Request) bool {
	var count atomic.Int64
	return func(r *http.Request) bool { return match(r) && count.Add(1) == n }
}
