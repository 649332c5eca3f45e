package reading

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Demand is a check together with the place of the task that demands it.
type Demand struct {
	Pointer string
	Check
}

// Contradiction says that two demands cannot both be met, whatever the change is.
type Contradiction struct {
	First, Second string // pointers
	Why           string
}

// maxDemands bounds the demands that are compared with one another.
const maxDemands = 500

// Contradictions finds demands that rule one another out.
func Contradictions(list []Demand) (found []Contradiction) {
	list = list[:min(len(list), maxDemands)]
	for i, a := range list {
		for _, b := range list[:i] {
			why := a.against(b.Check)
			if why == "" {
				why = b.against(a.Check)
			}
			if why != "" {
				found = append(found, Contradiction{First: b.Pointer, Second: a.Pointer, Why: why})
			}
		}
	}
	return found
}

// against says why a check cannot pass where another one does; "" where it can.
func (c Check) against(o Check) string {
	switch {
	case c.Command != "":
		if c.Command == o.Command && c.Exit() != o.Exit() {
			return fmt.Sprintf("%q is to exit with %d and with %d", clip(c.Command), o.Exit(), c.Exit())
		}
	case c.Kind == "paths_allowed" && o.Kind == "paths_allowed":
		if !anyPair(c.paths(), o.paths(), overlap) {
			return fmt.Sprintf("only %s and only %s may change", shown(o.paths()), shown(c.paths()))
		}
	case c.Kind == "paths_allowed" && o.Kind == "paths_forbidden":
		forbidden := o.paths()
		for _, p := range c.paths() {
			if !anyPair([]string{p}, forbidden, below) {
				return ""
			}
		}
		return fmt.Sprintf("only %s may change, and %s must not", shown(c.paths()), shown(forbidden))
	}
	return ""
}

func (c Check) paths() []string {
	var p struct {
		Paths []string `json:"paths"`
	}
	_ = json.Unmarshal(c.Params, &p) // what is no list of globs is refused elsewhere
	return p.Paths
}

func shown(paths []string) string { return clip(strings.Join(paths, ", ")) }

func anyPair(a, b []string, f func(x, y string) bool) bool {
	for _, x := range a {
		for _, y := range b {
			if f(x, y) {
				return true
			}
		}
	}
	return len(a) == 0 || len(b) == 0
}

// literal is the part of a glob before its first wildcard, up to a whole segment; exact says that it has none.
func literal(glob string) (prefix string, exact bool) {
	glob = strings.Trim(glob, "/")
	i := strings.IndexAny(glob, `*?[{\`)
	if i < 0 {
		return glob, true
	}
	return glob[:strings.LastIndexByte(glob[:i], '/')+1], false
}

// overlap says that some path may match both globs: also where nobody can tell.
func overlap(x, y string) bool {
	a, _ := literal(x)
	b, _ := literal(y)
	a, b = strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/")
	return a == b || a == "" || b == "" || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// below says that every path that matches x is y or below it: only where that is certain.
func below(x, y string) bool {
	if x == y {
		return true
	}
	y = strings.TrimSuffix(strings.TrimSuffix(y, "/**"), "/")
	prefix, exact := literal(y)
	if !exact {
		return false
	}
	a, _ := literal(x)
	return strings.HasPrefix(strings.TrimSuffix(a, "/")+"/", prefix+"/")
}
