package check

import (
	"context"
	"encoding/json"
)

func init() {
	register("paths_allowed", "every changed path matches one of the globs in paths", parsePathsAllowed)
}

// pathsAllowed passes when nothing outside its globs changed.
type pathsAllowed struct{ globs globs }

// pathParams are the parameters of the kinds that take globs.
type pathParams struct {
	Kind  string   `json:"kind"`
	Paths []string `json:"paths"`
}

func parsePathsAllowed(params json.RawMessage) (Check, error) {
	g, err := decodeGlobs(params)
	if err != nil {
		return nil, err
	}
	return pathsAllowed{g}, nil
}

func decodeGlobs(params json.RawMessage) (globs, error) {
	var p pathParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	return parseGlobs("/paths", p.Paths)
}

func (c pathsAllowed) Check(_ context.Context, e Evidence) (Verdict, error) {
	var outside []string
	for _, name := range names(e) {
		if !c.globs.permit(name) {
			outside = append(outside, name)
		}
	}
	if len(outside) > 0 {
		return clipped(Fail, "changed outside of the allowed paths", outside), nil
	}
	return Verdict{Verdict: Pass, Evidence: "every changed path is allowed"}, nil
}

// names lists every name a change touches in its exact bytes, the old name of a
// rename too, each once and in the order of the diff.
func names(e Evidence) []string {
	var list []string
	seen := map[string]bool{}
	for _, c := range e.Changes {
		for _, name := range []string{c.Name, c.OldName} {
			if name != "" && !seen[name] {
				seen[name] = true
				list = append(list, name)
			}
		}
	}
	return list
}
