package check

import (
	"context"
	"encoding/json"
)

func init() {
	register("paths_forbidden", "no changed path matches one of the globs in paths", parsePathsForbidden)
}

// pathsForbidden fails when something inside its globs changed.
type pathsForbidden struct {
	globs globs
	what  string // beginning of the evidence
}

func parsePathsForbidden(params json.RawMessage) (Check, error) {
	g, err := decodeGlobs(params)
	if err != nil {
		return nil, err
	}
	return pathsForbidden{g, "changed forbidden paths"}, nil
}

func (c pathsForbidden) Check(_ context.Context, e Evidence) (Verdict, error) {
	var inside []string
	for _, name := range names(e) {
		if c.globs.forbid(name) {
			inside = append(inside, name)
		}
	}
	if len(inside) > 0 {
		return clipped(Fail, c.what, inside), nil
	}
	return Verdict{Verdict: Pass, Evidence: "none of these paths changed"}, nil
}
