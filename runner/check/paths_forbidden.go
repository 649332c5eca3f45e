package check

import "context"

func init() {
	register(Kind{
		Name:   "paths_forbidden",
		Help:   "No changed path matches one of the globs. A name of a directory covers everything below it; letter case does not matter.",
		Params: []Param{pathsParam},
	}, func(v values) Check { return pathsForbidden{v.globs(pathsParam.Name), "changed forbidden paths"} })
}

// pathsForbidden fails when something inside its globs changed.
type pathsForbidden struct {
	globs globs
	what  string // beginning of the evidence
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
