package check

import (
	"fmt"
	"strings"
)

// clip shortens text of strangers for a message.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// clipped makes a verdict over offending paths: all of them counted, the first
// few named.
func clipped(o Outcome, what string, paths []string) Verdict {
	v := Verdict{Verdict: o, Paths: shown(paths)}
	named := make([]string, 0, 3)
	for _, p := range v.Paths[:min(3, len(v.Paths))] {
		named = append(named, fmt.Sprintf("%q", clip(p)))
	}
	v.Evidence = what + ": " + strings.Join(named, ", ")
	if more := len(paths) - len(named); more > 0 {
		v.Evidence += fmt.Sprintf(" and %d more", more)
	}
	return v
}

// shown are the first paths of a list, as a result shows them.
func shown(paths []string) (list []string) {
	for _, p := range paths[:min(maxPaths, len(paths))] {
		list = append(list, strings.ToValidUTF8(p, "\ufffd"))
	}
	return list
}
